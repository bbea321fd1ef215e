//go:build linux && e2e

package gemini

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	ctxmodel "github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/test/e2e"
)

// A session.
const one = "11111111-2222-4333-8444-555555555555"

// The texts of ctxls, as in its documentation.
const guidance = "ctxls measures how full this session's context window is and reports it with each prompt, as in " +
	"[context used: 50%]. Below 50% there is room for tasks of any size. From 50% to 70%, it helps to tell the user before a large task starts. " +
	"Above 70%, it helps to suggest compacting or clearing before a large task; above 85%, to recommend it strongly. " +
	"The marks are information only; work continues at full quality at any level."

func wantSaid(t *testing.T, what string, r e2e.Request, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, said(r)); diff != "" {
		t.Errorf("%s: what was said to the model (-want +got):\n%s", what, diff)
	}
}

// work uses a tool of each kind: one that reads, two at once of which one fails, one that edits, a command.
func work() []reply {
	return []reply{
		{tokens: 100_000, text: "Reading.", calls: []call{read("notes.txt")}},
		{tokens: 200_000, calls: []call{read("src/main.go"), read("missing.txt")}},
		{tokens: 300_000, calls: []call{{"replace", map[string]any{"file_path": "$PROJECT/notes.txt", "instruction": "greet", "old_string": "alpha", "new_string": "ALPHA"}}}},
		{tokens: 310_000, calls: []call{{"run_shell_command", map[string]any{"command": "cat src/util.go", "description": "look"}}}},
		{tokens: 314_573, text: "All is done."},
	}
}

// Two turns of work. With a prompt the model is told the share once one is known, and the first time what that means; nothing
// else that it is sent differs from what it is sent without ctxls. Then ctxls leaves without a trace.
func TestConversation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	converse := func(install bool) (*testEnv, string) {
		for _, name := range []string{"home", "project"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		w := newTestEnvAt(t, dir, map[string][]reply{"work": work(), "more": {{tokens: 320_000, text: "There is more."}}})
		if install {
			w.install()
		}
		var printed string
		for _, prompt := range []string{"[[work]] please look around", "[[more]] go on"} {
			answer, warnings := w.prompt(one, prompt)
			printed += answer + warnings
		}
		return w, printed
	}
	without, plain := converse(false)
	with, printed := converse(true)

	all := with.model.Asked("work")
	if len(all) != 5 {
		t.Fatalf("the model was asked %v", with.model.Kinds())
	}
	wantSaid(t, "first turn", all[4])
	wantSaid(t, "second turn", with.model.Last("more"), guidance+"\n\n[context used: 30%]")
	s, _ := with.Session(one)
	if got := with.Tokens(one); got != 320_000 || s.Model != "gemini-2.5-pro" || s.Usage.WindowTokens != 1_048_576 || s.State != core.StateEnded {
		t.Errorf("the session: %d tokens, %+v", got, s)
	}
	slices.Sort(s.WorkingSet)
	if diff := cmp.Diff([]string{"notes.txt", "src/main.go", "src/util.go"}, s.WorkingSet); diff != "" {
		t.Errorf("working set (-want +got):\n%s", diff)
	}

	fills := with.CTXLS("breakdown", one)
	for _, part := range []string{"\nassistant ", "\ntool calls ", "\n  read_file ", "\n  replace ", "\nnotes.txt "} {
		if !strings.Contains(fills, part) {
			t.Errorf("what fills the window lacks %q:\n%s", part, fills)
		}
	}
	if plain != printed {
		t.Errorf("people see (-without +with):\n%s", cmp.Diff(plain, printed))
	}
	if diff := cmp.Diff(without.model.Kinds(), with.model.Kinds()); diff != "" {
		t.Fatalf("requests (-without +with):\n%s", diff)
	}
	for i, r := range with.model.Requests() {
		if diff := cmp.Diff(essence(without.model.Requests()[i]), essence(r)); diff != "" {
			t.Errorf("request %d differs by more than what ctxls says (-without +with):\n%s", i, diff)
		}
	}

	with.CTXLS("uninstall", "gemini-cli")
	if got, err := os.ReadFile(with.settings()); err != nil || string(got) != base {
		t.Errorf("%v, settings (-want +got):\n%s", err, cmp.Diff(base, string(got)))
	}
}

// process is what a command's result says of itself.
var process = regexp.MustCompile(`Process Group PGID: \d+`)

// essence is a request without what ctxls says and without what differs from run to run by itself: the names of calls and of
// processes.
func essence(r e2e.Request) any {
	return e2e.Rewrite(r.Body,
		func(s string) string {
			return strings.TrimSpace(process.ReplaceAllString(framed.ReplaceAllString(s, ""), ""))
		},
		func(list []any) any { return e2e.WithoutEmptyTexts(list) }, "id")
}

// The host compacts by itself within a turn, without a report. ctxls detects the fall, and the next tool's result lists
// the files in use, once.
func TestCompaction(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{
		"fill": {{tokens: 30_000, calls: []call{read("src/main.go"), read("src/util.go")}}, {tokens: 40_000, text: "It is filled."}},
		"over": {
			{tokens: 140_000, text: "Reading on.", calls: []call{read("src/main.go")}},
			{tokens: 45_000, calls: []call{read("notes.txt")}},
			{tokens: 46_000, calls: []call{read("notes.txt")}},
			{tokens: 47_000, text: "It is over."},
		},
	})
	w.Write(w.settings(), strings.Replace(base, `"privacy"`, `"model": {"compressionThreshold": 0.05}, "privacy"`, 1))
	w.install()
	w.prompt(one, "[[fill]] read it all")
	if s, _ := w.Session(one); s.Compactions != 0 || s.Usage.CompactionRule != ctxmodel.CompactsAt || *s.Usage.CompactionTokens != 52_428 {
		t.Errorf("%d compactions before any; the host compacts: %s, at %v", s.Compactions, s.Usage.CompactionRule, s.Usage.CompactionTokens)
	}
	w.prompt(one, "[[over]] go on")
	kinds := w.model.Kinds()
	if !slices.Contains(kinds, "summary") {
		t.Fatalf("the host did not compact: %v", kinds)
	}
	s, _ := w.Session(one)
	if got := w.Tokens(one); got != 47_000 || s.Compactions != 1 {
		t.Errorf("%d tokens, %d compactions", got, s.Compactions)
	}
	const context = "ctxls: working context\nCurrent file paths in context:\n  - src/main.go\n  - src/util.go"
	over := w.model.Asked("over")
	for i, r := range over {
		want := 0
		if i >= 2 { // the tool after the fall
			want = 1
		}
		if got := strings.Count(strings.Join(said(r), "\n"), context); got != want {
			t.Errorf("request %d of the turn: the working context is said %d times, want %d: %q", i, got, want, said(r))
		}
	}
	for _, r := range w.model.Asked("summary") {
		if strings.Contains(strings.Join(texts(r), "\n"), "Current file paths in context") {
			t.Error("the summariser was given the working context, which this host has no place for")
		}
	}
}

// A sub-agent's files and tokens are its own, and it gets no text from ctxls.
func TestSubAgent(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{
		"delegate": {
			{tokens: 100_000, calls: []call{read("notes.txt")}},
			{tokens: 110_000, calls: []call{{"invoke_agent", map[string]any{"agent_name": "generalist", "prompt": "[[inner]] look around"}}}},
			{tokens: 120_000, calls: []call{read("src/main.go")}},
			{tokens: 130_000, text: "It is delegated."},
		},
		"inner": {
			{tokens: 50_000, calls: []call{read("src/util.go")}},
			{tokens: 55_000, calls: []call{{"complete_task", map[string]any{"result": map[string]any{"response": "There is a util."}}}}},
		},
	})
	w.install()
	w.prompt(one, "[[delegate]] have a look")
	if n := len(w.model.Asked("inner")); n != 2 {
		t.Fatalf("the sub-agent asked %d times: %v", n, w.model.Kinds())
	}
	wantSaid(t, "the sub-agent", w.model.Last("inner"))
	wantSaid(t, "the main chain", w.model.Last("delegate"))
	s, _ := w.Session(one)
	if got := w.Tokens(one); got != 130_000 || s.Compactions != 0 {
		t.Errorf("the main gauge: %d tokens, %d compactions", got, s.Compactions)
	}
	if len(s.Agents) != 0 {
		t.Errorf("sub-agents that have not ended: %+v", s.Agents)
	}
	slices.Sort(s.WorkingSet)
	if diff := cmp.Diff([]string{"notes.txt", "src/main.go"}, s.WorkingSet); diff != "" {
		t.Errorf("working set of the main chain (-want +got):\n%s", diff)
	}
}

// Installed for the user and for the project, ctxls still gives each text once.
func TestInstalledTwice(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"more": {{tokens: 524_288, text: "More."}}})
	w.install("--user")
	w.install("--project")
	w.prompt(one, "[[more]] go")
	w.prompt(one, "[[more]] go")
	wantSaid(t, "second turn", w.model.Last("more"), guidance+"\n\n[context used: 50%]")
}

// A host that gets a signal to stop ends its session, and the session's data stays.
func TestTermination(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"slow": {{tokens: 100_000, calls: []call{read("notes.txt")}}, {hang: true}}})
	w.install("--project")
	cmd, _, _ := w.gemini(t.Context(), "-p", "[[slow]] take your time", "--session-id", one)
	if id := w.Terminate(cmd, syscall.SIGTERM, func() int { return len(w.model.Asked("slow")) }); id != one {
		t.Errorf("the session that ended is %s", id)
	}
}

// The reason for no text at a session's start: the host puts it before the prompt. When the session is resumed, the host
// leaves out a prompt that begins like this.
func TestWhyNothingAtTheStart(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"work": {{tokens: 10_000, text: "All is done."}}, "more": {{tokens: 11_000, text: "More."}}})
	hook := `"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command",
		"command": "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"hello\"}}'"}]}]}, "telemetry"`
	w.Write(w.settings(), strings.Replace(base, `"telemetry"`, hook, 1))
	w.prompt(one, "[[work]] look around")
	wantSaid(t, "first turn", w.model.Last("work"), "hello")
	w.prompt(one, "[[more]] go on")
	if texts := strings.Join(texts(w.model.Last("more")), "\n"); strings.Contains(texts, "look around") || !strings.Contains(texts, "All is done.") {
		t.Errorf("the first prompt is still there: something can be said at a session's start\n%s", texts)
	}
}

// One variable turns ctxls off for a host that is started with it.
func TestDisabled(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"more": {{tokens: 144_000, text: "More."}}})
	w.install()
	w.Env = append(w.Env, "CTXLS_DISABLE=1")
	w.prompt("11111111-2222-4333-8444-555555555555", "[[more]] go")
	wantSaid(t, "with ctxls turned off", w.model.Last("more"))
	if s := w.Sessions(); len(s) != 0 {
		t.Errorf("sessions: %+v", s)
	}
}
