//go:build linux && e2e

package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	ctxmodel "github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/test/e2e"
)

// The texts of ctxls, as in its documentation.
const guidance = "ctxls measures how full this session's context window is and reports it with each prompt, as in " +
	"[context used: 50%]. Below 50% there is room for tasks of any size. From 50% to 70%, it helps to tell the user before a large task starts. " +
	"Above 70%, it helps to suggest compacting or clearing before a large task; above 85%, to recommend it strongly. " +
	"The marks are information only; work continues at full quality at any level."

func mark(percent int) string { return fmt.Sprintf("[context used: %d%%]", percent) }

func workingContext(paths ...string) string {
	return "ctxls: working context\nCurrent file paths in context:\n  - " + strings.Join(paths, "\n  - ")
}

// work passes 70 % of the 258,400 that Codex states with its third answer.
func work() []reply {
	return []reply{
		{tokens: 100_000, text: "Reading.", calls: []call{run("cat notes.txt")}},
		{tokens: 150_000, calls: []call{run("sed -n 1,3p 'src/util.go'")}},
		{tokens: 190_000, calls: []call{patch("*** Update File: notes.txt", "@@", "-alpha", "+ALPHA", " beta", "*** Add File: src/new.go", "+package main")}},
		{tokens: 192_000, calls: []call{run("cat does-not-exist; exit 3")}},
		{tokens: 193_800, text: "Done."},
	}
}

func wantSaid(t *testing.T, what string, r e2e.Request, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, said(r)); diff != "" {
		t.Errorf("%s: what was said to the model (-want +got):\n%s", what, diff)
	}
}

// Three turns of work. The model gets the explanation of the marks, and the share with each prompt once it is known. The
// rest of each request, and the user's screen, equal a run without ctxls.
func TestConversation(t *testing.T) {
	t.Parallel()
	converse := func(install bool) (w *testEnv, printed []string) {
		w = newTestEnvAt(t, t.TempDir(), map[string][]reply{"work": work(), "more": {{tokens: 200_260, text: "More."}}})
		if install {
			w.install()
		}
		first := w.prompt("", "[[work]] please look around", bypass)
		for _, turn := range []turn{first, w.prompt(first.session, "[[more]] go on", bypass), w.prompt(first.session, "[[more]] and on", bypass)} {
			printed = append(printed, turn.items...)
		}
		return w, printed
	}
	without, plain := converse(false)
	with, printed := converse(true)

	all := with.model.Asked("work")
	if len(all) != 5 {
		t.Fatalf("the model was asked %v", with.model.Kinds())
	}
	wantSaid(t, "first request", all[0], guidance)
	wantSaid(t, "past 70 %, where the reminder would be due for a model of Anthropic", all[4], guidance)
	more := with.model.Asked("more")
	wantSaid(t, "second turn", more[0], guidance, mark(75))
	wantSaid(t, "third turn", more[1], guidance, mark(75), mark(78))

	s := with.Sessions()
	if len(s) != 1 || *s[0].Usage.Tokens != 200_260 || !s[0].Usage.Exact || s[0].Usage.WindowTokens != 258_400 ||
		s[0].Usage.WindowProvenance != "host" || *s[0].Usage.CompactionTokens != 244_800 || s[0].State != core.StateEnded || s[0].Model != "gpt-5.5" {
		t.Errorf("sessions: %+v", s)
	}
	if files := s[0].WorkingSet; !slices.Equal(slices.Sorted(slices.Values(files)), []string{"notes.txt", "src/new.go", "src/util.go"}) {
		t.Errorf("files: %q", files)
	}

	with.WantRecords("at the end")

	if diff := cmp.Diff(plain, printed); diff != "" {
		t.Errorf("what people see (-without +with):\n%s", diff)
	}
	if diff := cmp.Diff(without.model.Kinds(), with.model.Kinds()); diff != "" {
		t.Fatalf("requests (-without +with):\n%s", diff)
	}
	for i, r := range with.model.Requests() {
		if diff := cmp.Diff(without.essence(without.model.Requests()[i]), with.essence(r)); diff != "" {
			t.Errorf("request %d differs by more than what ctxls says (-without +with):\n%s", i, diff)
		}
	}
}

// byChance matches the parts of command results that differ between runs.
var byChance = regexp.MustCompile(`Chunk ID: [0-9a-f]+|Wall time: [0-9.]+ seconds`)

// essence is a request without the texts of ctxls and without parts that differ between runs: IDs, times and places.
func (w *testEnv) essence(r e2e.Request) any {
	text := func(s string) string {
		return byChance.ReplaceAllString(strings.ReplaceAll(s, filepath.Dir(w.Home), "$WORLD"), "")
	}
	list := func(items []any) any {
		return slices.DeleteFunc(items, func(item any) bool {
			i, ok := item.(map[string]any)
			return ok && i["role"] == "developer" && len(textsOf(i)) == 1 && isOurs(textsOf(i)[0])
		})
	}
	return e2e.Rewrite(r.Body, text, list, "id", "client_metadata", "prompt_cache_key")
}

// With anthropicOnly off, every model gets the reminder: once, after the tool that passed 70 %.
func TestReminder(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"work": work(), "more": {{tokens: 200_260, text: "More."}}})
	w.Write(filepath.Join(w.Home, ".config", "ctxls", "config.json"), `{"reminder": {"anthropicOnly": false}}`)
	w.install()
	first := w.prompt("", "[[work]] please look around", bypass)
	w.prompt(first.session, "[[more]] go on", bypass)
	reminder := "ctxls: about 26.5% of this session's context window is still free. There is room to go on with the work at full quality, " +
		"without hurrying or cutting it short.\n[Context Status: 73.5% used (190,000/258,400 tokens), 26.5% remaining]"
	wantSaid(t, "below 70 %", w.model.Asked("work")[2], guidance)
	wantSaid(t, "past 70 %", w.model.Asked("work")[3], guidance, reminder)
	wantSaid(t, "later", w.model.Last("more"), guidance, reminder, mark(75))
}

// Codex's own record shows the actions of a tool, also of a tool that a model's program calls.
func TestCodeMode(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"code": {
		{tokens: 50_000, calls: []call{{name: "exec", text: "const r = await tools.exec_command({cmd: 'cat src/main.go'}); text(r.output); " +
			"await tools.apply_patch('*** Begin Patch\\n*** Update File: notes.txt\\n@@\\n-alpha\\n+ALPHA\\n beta\\n*** End Patch\\n');"}}},
		{tokens: 51_000, text: "Done."},
	}})
	w.configure("gpt-5.6-luna") // of which Codex knows that it works so
	w.install()
	turn := w.prompt("", "[[code]] go", bypass)
	if !strings.HasPrefix(w.read(filepath.Join(w.Project, "notes.txt")), "ALPHA") {
		t.Fatal("nothing was edited")
	}
	if s, _ := w.Session(turn.session); !slices.Equal(slices.Sorted(slices.Values(s.WorkingSet)), []string{"notes.txt", "src/main.go"}) {
		t.Errorf("files: %q", s.WorkingSet)
	}
	if got := w.Tokens(turn.session); got != 51_000 {
		t.Errorf("the gauge says %d", got)
	}
}

// The host compacts by itself within a turn, at the expected point: beyond 90 % of 272,000. The summarizer gets no text.
// The next request has the whole working context, once.
func TestAutomaticCompaction(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{
		"fill": {
			{tokens: 90_000, calls: []call{run("cat src/main.go"), run("cat src/util.go")}},
			{tokens: 244_700, calls: []call{patch("*** Update File: notes.txt", "@@", "-alpha", "+ALPHA", " beta")}},
			{tokens: 244_900, calls: []call{run("true")}},
			{tokens: 40_000, text: "Filled."},
		},
		"small": {{tokens: 41_000, text: "On it."}},
	})
	w.install()
	turn := w.prompt("", "[[fill]] read it all", bypass)
	if kinds := w.model.Kinds(); !slices.Equal(kinds, []string{"fill", "fill", "fill", "summary", "fill"}) {
		t.Fatalf("the model was asked %v", kinds)
	}
	wantSaid(t, "the summariser", w.model.Last("summary"), guidance)
	context := workingContext("notes.txt", "src/main.go", "src/util.go")
	wantSaid(t, "after the compaction", w.model.Last("fill"), context)
	if s, _ := w.Session(turn.session); s.Compactions != 1 {
		t.Errorf("%d compactions", s.Compactions)
	}
	if got := w.Tokens(turn.session); got != 40_000 {
		t.Errorf("the gauge says %d", got)
	}
	w.WantRecords("after the compaction")
	w.prompt(turn.session, "[[small]] go on", bypass)
	wantSaid(t, "the next turn", w.model.Last("small"), context, mark(15))
}

// The user's limit moves Codex's compaction point, and ctxls knows the new point.
func TestCompactionLimit(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{
		"start": {{tokens: 40_000, text: "Begun."}},
		"fill": {
			{tokens: 119_000, calls: []call{run("true")}},
			{tokens: 120_100, calls: []call{run("true")}},
			{tokens: 40_000, text: "Filled."},
		},
	})
	config := filepath.Join(w.codexHome(), "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(config, "model_auto_compact_token_limit = 120_000\n"+string(text))
	w.install()
	turn := w.prompt("", "[[start]] begin", bypass)
	if s, _ := w.Session(turn.session); s.Usage.CompactionRule != ctxmodel.CompactsAt || *s.Usage.CompactionTokens != 120_000 {
		t.Fatalf("the host compacts: %s, at %v", s.Usage.CompactionRule, s.Usage.CompactionTokens)
	}
	w.prompt(turn.session, "[[fill]] read it all", bypass)
	if kinds := w.model.Kinds(); !slices.Equal(kinds, []string{"start", "fill", "fill", "summary", "fill"}) {
		t.Errorf("the model was asked %v", kinds)
	}
}

// A sub-agent's files and tokens are its own, and it gets no text from ctxls.
func TestSubAgent(t *testing.T) {
	const agents = "multi_agent_v1"
	w := newTestEnv(t, map[string][]reply{
		"delegate": {
			{tokens: 50_000, calls: []call{{namespace: agents, name: "spawn_agent", arguments: map[string]any{"message": "[[inner]] look around"}}}},
			{tokens: 51_000, calls: []call{{namespace: agents, name: "wait_agent", arguments: map[string]any{"targets": []string{"$AGENT"}, "timeout_ms": 30_000}}}},
			{tokens: 52_000, text: "Delegated."},
		},
		"inner": {{tokens: 200_000, calls: []call{run("cat src/util.go")}}, {tokens: 205_000, text: "Found it."}},
	})
	w.configure("gpt-5.1-codex") // whose sub-agents are called directly
	w.install()
	turn := w.prompt("", "[[delegate]] have a look", bypass)
	if n := len(w.model.Asked("inner")); n != 2 {
		t.Fatalf("the sub-agent asked %d times: %v", n, w.model.Kinds())
	}
	wantSaid(t, "the sub-agent", w.model.Last("inner"))
	wantSaid(t, "the main chain", w.model.Last("delegate"), guidance)
	s, _ := w.Session(turn.session)
	if got := w.Tokens(turn.session); got != 52_000 {
		t.Errorf("the main gauge says %d", got)
	}
	if len(s.WorkingSet) != 0 {
		t.Errorf("the working set of the main chain: %q", s.WorkingSet)
	}
	if a := s.AgentsEnded; len(a) != 1 || *a[0].Usage.Tokens != 205_000 || a[0].Usage.WindowTokens != 258_400 {
		t.Errorf("the sub-agent's gauge: %+v", a)
	}
	if n := len(w.Sessions()); n != 1 {
		t.Errorf("%d sessions", n)
	}
	w.WantRecords("with a sub-agent")
}

// A host that gets a signal to stop ends its session, and the session's data stays.
func TestTermination(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"slow": {{tokens: 100_000, calls: []call{run("cat notes.txt")}}, {hang: true}}})
	w.install("--project")
	cmd, _, _ := w.exec(t.Context(), bypass, "[[slow]] take your time")
	w.Terminate(cmd, syscall.SIGINT, func() int { return len(w.model.Asked("slow")) })
}

// Two concurrent sessions in one directory each have their own gauge, working set and conversation.
func TestParallelSessions(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{
		"first":  {{tokens: 20_000, calls: []call{run("cat notes.txt")}}, {tokens: 31_000, text: "First."}},
		"second": {{tokens: 195_000, calls: []call{run("cat src/main.go")}}, {tokens: 200_000, calls: []call{run("cat src/util.go")}}, {tokens: 201_000, text: "Second."}},
	})
	w.install()
	var one, two turn
	both := func() {
		var group sync.WaitGroup
		group.Go(func() { one = w.prompt(one.session, "[[first]] go", bypass) })
		group.Go(func() { two = w.prompt(two.session, "[[second]] go", bypass) })
		group.Wait()
	}
	both()
	both()
	want := map[string]e2e.Gauge{one.session: {Tokens: 31_000, Files: []string{"notes.txt"}}, two.session: {Tokens: 201_000, Files: []string{"src/main.go", "src/util.go"}}}
	if diff := cmp.Diff(want, w.Gauges()); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	wantSaid(t, "the first session", w.model.Last("first"), guidance, mark(12))
	wantSaid(t, "the second session", w.model.Last("second"), guidance, mark(78))
}

// A refused request changes no figure, since Codex invents one.
func TestRefusal(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{
		"big":  {{tokens: 150_000, calls: []call{run("cat notes.txt")}}, {refused: true}},
		"more": {{tokens: 151_000, text: "More."}},
	})
	w.install()
	turn := w.prompt("", "[[big]] everything", bypass)
	if got := w.Tokens(turn.session); got != 150_000 {
		t.Errorf("the gauge says %d", got)
	}
	w.prompt(turn.session, "[[more]] go on", bypass)
	wantSaid(t, "the next turn", w.model.Last("more"), guidance, mark(58))
}

// The longest text of ctxls reaches the model whole.
func TestTheLongestText(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"work": work()})
	w.Write(filepath.Join(w.Home, ".config", "ctxls", "config.json"),
		fmt.Sprintf(`{"reminder": {"anthropicOnly": false, "message": "ctxls %s"}}`, strings.Repeat("größe ", 3000)))
	w.install()
	w.prompt("", "[[work]] please look around", bypass)
	said := said(w.model.Last("work"))
	if len(said) != 2 || len(said[1]) < 9_990 || len(said[1]) > 10_000 || strings.Contains(said[1], "truncated") || strings.Contains(said[1], "saved to") {
		t.Errorf("%d texts, the last of %d bytes: %.80s…", len(said), len(said[len(said)-1]), said[len(said)-1])
	}
}

// After a whole session of Codex, uninstalling restores its hooks.
func TestUninstall(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"more": {{tokens: 144_000, text: "More."}}})
	mine := "{\n  \"description\": \"mine\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"touch stopped\"}]}]}\n}\n"
	w.Write(w.hooks(), mine)
	config := w.read(filepath.Join(w.codexHome(), "config.toml"))
	w.install()
	turn := w.prompt("", "[[more]] go", bypass)
	wantSaid(t, "installed", w.model.Last("more"), guidance)
	if _, err := os.Stat(filepath.Join(w.Project, "stopped")); err != nil {
		t.Errorf("the other hook did not run: %v", err)
	}
	w.CTXLS("uninstall", "codex")
	if got := w.read(w.hooks()); got != mine {
		t.Errorf("hooks.json (-want +got):\n%s", cmp.Diff(mine, got))
	}
	if got := w.read(filepath.Join(w.codexHome(), "config.toml")); got != config {
		t.Errorf("config.toml (-want +got):\n%s", cmp.Diff(config, got))
	}
	w.prompt(turn.session, "[[more]] go", bypass)
	wantSaid(t, "after uninstalling", w.model.Last("more"), guidance)
}

// Installed for the user and for the project, ctxls runs twice, but counts once and gives each text once.
func TestInstalledTwice(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"more": {{tokens: 144_000, calls: []call{run("cat notes.txt")}}, {tokens: 144_400, text: "More."}}})
	w.install("--user")
	w.install("--project")
	turn := w.prompt("", "[[more]] go", bypass)
	w.prompt(turn.session, "[[more]] go", bypass)
	wantSaid(t, "second turn", w.model.Last("more"), guidance, mark(56))
	if got := w.Tokens(turn.session); got != 144_400 {
		t.Errorf("the gauge says %d", got)
	}
}

// One variable turns ctxls off for a host that is started with it.
func TestDisabled(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"more": {{tokens: 144_000, text: "More."}}})
	w.install()
	w.Env = append(w.Env, "CTXLS_DISABLE=1")
	w.prompt("", "[[more]] go", bypass)
	wantSaid(t, "with ctxls turned off", w.model.Last("more"))
	if s := w.Sessions(); len(s) != 0 {
		t.Errorf("sessions: %+v", s)
	}
}
