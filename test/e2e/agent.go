//go:build linux && e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
)

// An Agent is a host that speaks OpenAI's API, in a sandbox, and what its tests must know of it. Its functions run the real program.
type Agent struct {
	*Sandbox
	Model *OpenAI
	// Name is what ctxls calls the host, Window the tokens of its model's window, File what install edits or makes.
	Name, File string
	Window     int
	// Prompt runs one turn of the one session to its end and returns what the host printed. Compact has the session compacted as a
	// person's wish.
	Prompt  func(text string) string
	Compact func()
	// The tools of the host, for files of the project.
	Read, Edit, Shell func(path string) Call
	// Recorded is a call that ends when the host's record has a response of so many tokens, for a host that writes its record beside
	// running tools. nil for other hosts.
	Recorded func(tokens int) Call
	// IsSummary reports whether a request without tools' results is for the summary of a compaction.
	IsSummary func(messages []any) bool
	// Counted is what a host counts for an answer beside what the request held.
	Counted int
	// AfterTurn says that the host compacts by itself when a turn has ended that filled the window, not in its midst.
	AfterTurn bool
	// Keeps says that a compaction keeps the latest messages, with what they told.
	Keeps bool
	// Told says what of it this host can be told; see Conversation.
	Told Told

	scripts map[string][]Reply
}

// Told says what a host passes on to its model.
type Told struct {
	Reminder bool // after a tool
	Summary  bool // the files in use, to the model that writes a summary
}

// NewAgent makes an agent with an empty home. name is that of the host for ctxls. The caller fills in the rest.
func NewAgent(t *testing.T, name string, window int) *Agent {
	a := &Agent{Sandbox: NewSandbox(t, t.TempDir()), Name: name, Window: window}
	a.Model = NewOpenAI(t, a.choose)
	a.Write(filepath.Join(a.Home, ".config", "ctxls", "config.json"), `{"reminder": {"anthropicOnly": false}}`)
	return a
}

// afterwards is what the model says that a request holds which follows a compaction.
const afterwards = 25_000

func (a *Agent) choose(body map[string]any) (string, Reply) {
	messages, _ := body["messages"].([]any)
	if a.IsSummary(messages) {
		return "summary", Reply{Text: "<state_snapshot>The user asked for some reading.</state_snapshot>", Tokens: a.Window / 2}
	}
	name, reply, ok := Script(a.scripts, messages, "assistant", TextsOf)
	if !ok {
		return "other", Reply{Text: "Going on.", Tokens: afterwards}
	}
	reply.Calls = slices.Clone(reply.Calls)
	for i := range reply.Calls {
		reply.Calls[i].Input = a.InProject(reply.Calls[i].Input)
	}
	return name, reply
}

// share returns tokens as a share of the window.
func (a *Agent) share(percent int) int { return a.Window / 100 * percent }

// wantGauge makes sure, from within the model, that the gauge shows what the last response reported.
func (a *Agent) wantGauge(when string, want int) {
	out, err := a.Command(a.T.Context(), CTXLSBin(), "sessions", "--all", "--json").Output()
	var sessions []core.SessionView
	if err == nil {
		err = json.Unmarshal(out, &sessions)
	}
	if err != nil || len(sessions) != 1 || sessions[0].Usage.Tokens == nil || *sessions[0].Usage.Tokens != want+a.Counted || !sessions[0].Usage.Exact {
		a.T.Errorf("%s: the gauge does not say %d: %v\n%s", when, want+a.Counted, err, out)
	}
}

// counted has every reply but the first make sure that the gauge shows what the one before it reported.
func (a *Agent) counted(name string, replies ...Reply) []Reply {
	for i := 1; i < len(replies); i++ {
		if a.Recorded != nil {
			replies[i-1].Calls = append(replies[i-1].Calls, a.Recorded(replies[i-1].Tokens))
		}
		replies[i].Before = func() { a.wantGauge(fmt.Sprintf("request %d of %s", i+1, name), replies[i-1].Tokens) }
	}
	return replies
}

// one returns the one session that ctxls knows.
func (a *Agent) one() core.SessionView {
	a.T.Helper()
	sessions := a.Sessions()
	if len(sessions) != 1 {
		a.T.Fatalf("%d sessions: %+v", len(sessions), sessions)
	}
	return sessions[0]
}

// tell returns the text of what a request holds.
func tell(r Request) string { return strings.Join(TextsOf(r.Body["messages"]), "\n") }

func wantCount(t *testing.T, what string, r Request, said string, want int) {
	t.Helper()
	if got := strings.Count(tell(r), said); got != want {
		t.Errorf("%s: %q is said %d times, want %d:\n%s", what, said, got, want, tell(r))
	}
}

const workingContext = "ctxls: working context\n"

// Conversation has the agent work, fill its window, compact by itself and by a person's wish. The gauge shows what the model
// reported at every response; the mark, the reminder and the files in use reach the model, once each; then ctxls leaves without a
// trace.
func (a *Agent) Conversation() {
	t := a.T
	t.Helper()
	before, err := os.ReadFile(a.File)
	if err != nil {
		before = nil
	}
	a.scripts = map[string][]Reply{
		"work": a.counted("work",
			Reply{Tokens: a.share(10), Text: "Reading.", Calls: []Call{a.Read("notes.txt")}},
			Reply{Tokens: a.share(11), Calls: []Call{a.Read("src/main.go"), a.Read("missing.txt")}},
			Reply{Tokens: a.share(12), Calls: []Call{a.Edit("notes.txt")}},
			Reply{Tokens: a.share(13), Calls: []Call{a.Shell("src/util.go")}},
			Reply{Tokens: a.share(14), Text: "All is done."}),
		"more": {{Tokens: a.share(15), Text: "There is more."}},
		"high": a.counted("high", Reply{Tokens: a.share(75), Calls: []Call{a.Read("src/main.go")}}, Reply{Tokens: a.share(76), Text: "It is much."}),
		"full": {{Tokens: a.share(92), Text: "Full.", Calls: []Call{a.Read("src/main.go")}}, {Tokens: afterwards, Text: "It was full."}},
		"next": {{Tokens: a.share(31), Text: "It goes on."}},
		"last": {{Tokens: a.share(8), Text: "That is all."}},
	}
	if a.AfterTurn {
		a.scripts["full"][1].Tokens = a.share(93)
	}
	a.CTXLS("install", a.Name)
	if printed := a.Prompt("[[work]] please look around"); len(a.Model.Asked("work")) != 5 {
		t.Fatalf("the model was asked %v\n%s", a.Model.Kinds(), printed)
	}
	a.wantGauge("after the first turn", a.share(14))
	wantCount(t, "first turn", a.Model.Last("work"), "[context used: 1", 0)
	s := a.one()
	slices.Sort(s.WorkingSet)
	if diff := cmp.Diff([]string{"notes.txt", "src/main.go", "src/util.go"}, s.WorkingSet); diff != "" || s.Usage.WindowTokens != a.Window {
		t.Errorf("window %d, working set (-want +got):\n%s", s.Usage.WindowTokens, diff)
	}

	a.Prompt("[[more]] go on")
	wantCount(t, "second turn", a.Model.Last("more"), "[context used: 14%]", 1)
	wantCount(t, "second turn", a.Model.Last("more"), "ctxls measures how full", 1)
	a.Prompt("[[high]] read much")
	if a.Told.Reminder {
		wantCount(t, "the reminder", a.Model.Last("high"), "[Context Status: 75", 1)
	}

	a.Prompt("[[full]] fill it") // some hosts compact with the next prompt
	a.Prompt("[[next]] go on")
	a.wantGauge("after the first compaction", a.share(31))
	a.wantCompactions(1)
	a.Compact()
	a.Prompt("[[last]] finish")
	a.wantCompactions(2)
	a.wantGauge("at the end", a.share(8))

	if out := a.CTXLS("doctor", a.Name); !strings.Contains(out, "hooks") && !strings.Contains(out, "plugin") {
		t.Errorf("doctor says nothing of what is installed:\n%s", out)
	}
	a.CTXLS("uninstall", a.Name)
	if after, err := os.ReadFile(a.File); string(after) != string(before) || (before == nil) != os.IsNotExist(err) {
		t.Errorf("%v, settings (-want +got):\n%s", err, cmp.Diff(string(before), string(after)))
	}
	a.recorded(s.SessionID)
}

// wantCompactions makes sure that so many were seen, and that after the last one the files in use were told once.
func (a *Agent) wantCompactions(want int) {
	a.T.Helper()
	if got := a.one().Compactions; got != want {
		a.T.Fatalf("%d compactions, want %d: %v", got, want, a.Model.Kinds())
	}
	kept := 0 // what was told after each compaction before
	if a.Keeps {
		kept = want - 1
	}
	told, last := 0, -1
	requests := a.Model.Requests()
	for i, r := range requests {
		if r.Kind == "summary" {
			last = i
			if a.Told.Summary && !strings.Contains(tell(r), "src/main.go") {
				a.T.Errorf("the summarizer is not told the files in use:\n%s", tell(r))
			}
		}
	}
	for _, r := range requests[last+1:] {
		n := strings.Count(tell(r), workingContext)
		if n > kept+1 {
			a.T.Errorf("compaction %d: the files in use are told %d times:\n%s", want, n, tell(r))
		}
		told = max(told, n)
	}
	if told != kept+1 {
		a.T.Errorf("compaction %d: the files in use are not told: %v", want, a.Model.Kinds())
	}
}

// recorded makes sure that the session is found on the disk without any hook, with the same figure.
func (a *Agent) recorded(id string) {
	a.T.Helper()
	if err := os.RemoveAll(filepath.Join(a.Home, ".local", "state", "ctxls")); err != nil {
		a.T.Fatal(err)
	}
	var sessions []core.SessionView
	out := a.CTXLS("sessions", "--all", "--json")
	if err := json.Unmarshal([]byte(out), &sessions); err != nil {
		a.T.Fatal(err)
	}
	i := slices.IndexFunc(sessions, func(s core.SessionView) bool { return s.SessionID == id })
	if i < 0 || sessions[i].Source != core.SourceRecord || sessions[i].Usage.Tokens == nil || *sessions[i].Usage.Tokens != a.share(8)+a.Counted || sessions[i].CWD != a.Project || string(sessions[i].Host) != a.Name {
		a.T.Errorf("the record of %s tells:\n%s", id, out)
	}
}

// Killed has ctxls be killed whenever the host runs it: the turn ends as it does without, and the model is told nothing.
func (a *Agent) Killed() {
	t := a.T
	t.Helper()
	a.scripts = map[string][]Reply{"work": {{Tokens: 10_000, Calls: []Call{a.Read("notes.txt")}}, {Tokens: 11_000, Text: "All is done."}}}
	bin := filepath.Join(a.Home, "bin", "ctxls")
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(CTXLSBin()) // of a link the one on the PATH would be installed
	if err == nil {
		err = os.WriteFile(bin, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := a.Command(t.Context(), bin, "install", a.Name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Remove(bin); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, []byte("#!/bin/sh\necho started >> "+filepath.Join(a.Home, "started")+"\nkill -9 $$\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	printed := a.Prompt("[[work]] look around")
	if len(a.Model.Asked("work")) != 2 || !strings.Contains(printed, "All is done.") {
		t.Errorf("the model was asked %v, and answered:\n%s", a.Model.Kinds(), printed)
	}
	wantCount(t, "with ctxls killed", a.Model.Last("work"), "ctxls: ", 0)
	if _, err := os.Stat(filepath.Join(a.Home, "started")); err != nil {
		t.Error("the host never ran it")
	}
}
