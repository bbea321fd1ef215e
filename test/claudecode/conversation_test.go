//go:build linux && e2e

package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/test/e2e"
)

// Two sessions.
const one, two = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"

// The texts of ctxls, as in its documentation.
const (
	guidance = "SessionStart: ctxls measures how full this session's context window is and reports it with each prompt, as in " +
		"[context used: 50%]. Below 50% there is room for tasks of any size. From 50% to 70%, it helps to tell the user before a large task starts. " +
		"Above 70%, it helps to suggest compacting or clearing before a large task; above 85%, to recommend it strongly. " +
		"The marks are information only; work continues at full quality at any level. " +
		`A number of "tokens left" beside the marks is Claude Code's own: it counts down from 15,000,000 and does not follow the window.`
	// reminder stands for a text of remind.
	reminder = "PostToolBatch: the reminder"
)

// remind returns the reminder at a share in tenths of a percent.
func remind(tenths int, tokens string) string {
	left := 1000 - tenths
	return fmt.Sprintf("PostToolBatch: ctxls: about %d.%d%% of this session's context window is still free. There is room to go on "+
		"with the work at full quality, without hurrying or cutting it short.\n"+
		"[Context Status: %d.%d%% used (%s/200,000 tokens), %d.%d%% remaining]", left/10, left%10, tenths/10, tenths%10, tokens, left/10, left%10)
}

// reminders are the possible right texts. Claude Code writes its transcript shortly after it runs its hooks, so
// sometimes only the next batch shows that 70 % was passed.
var reminders = []string{remind(705, "141,000"), remind(710, "142,000"), remind(725, "145,000"), remind(750, "150,000")}

func mark(percent int) string { return fmt.Sprintf("UserPromptSubmit: [context used: %d%%]", percent) }

// work passes 70 % of the window with its third batch of tools, and pauses in the fourth.
func work() []e2e.Reply {
	return []e2e.Reply{
		{Tokens: 100_000, Text: "Reading.", Calls: []e2e.Call{read("notes.txt")}},
		{Tokens: 139_000, Calls: []e2e.Call{read("src/main.go"), read("src/util.go")}},
		{Tokens: 141_000, Calls: []e2e.Call{{Tool: "Edit", Input: map[string]any{"file_path": "$PROJECT/notes.txt", "old_string": "alpha", "new_string": "ALPHA"}}}},
		{Tokens: 142_000, Calls: []e2e.Call{{Tool: "Bash", Input: map[string]any{"command": "sleep 0.3; echo hello", "description": "Greet"}}}},
		{Tokens: 143_000, Text: "Done."},
	}
}

func wantSaid(t *testing.T, what string, r e2e.Request, want ...string) {
	t.Helper()
	said := said(r)
	for i := range said {
		if slices.Contains(reminders, said[i]) {
			said[i] = reminder
		}
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("%s: what was said to the model (-want +got):\n%s", what, diff)
	}
}

// Two turns of work. The model gets the explanation of the marks, the share with each prompt once it is known, and the
// reminder once, when the share passes 70 %. The rest of each request equals a request without ctxls.
func TestConversation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	converse := func(install bool) (*testEnv, string) {
		for _, name := range []string{"home", "project"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		w := newTestEnvAt(t, dir, map[string][]e2e.Reply{"work": work(), "more": {{Tokens: 144_000, Text: "More."}}})
		if install {
			w.install()
		}
		printed := w.prompt(one, "[[work]] please look around", "--allowedTools", "Bash") + w.prompt(one, "[[more]] go on") + w.prompt(one, "[[more]] and on")
		return w, printed
	}
	without, plain := converse(false)
	with, printed := converse(true)

	all := with.model.Asked("work")
	if len(all) != 5 {
		t.Fatalf("the model was asked %v", with.model.Kinds())
	}
	wantSaid(t, "first request", all[0], guidance)
	wantSaid(t, "below 70 %", all[2], guidance)
	wantSaid(t, "past 70 %", all[4], guidance, reminder)
	wantSaid(t, "third turn", with.model.Last("more"), guidance, reminder, mark(72), mark(72))
	if got := with.Tokens(one); got != 144_000 {
		t.Errorf("the gauge says %d", got)
	}

	if plain != printed {
		t.Errorf("people see %q, without ctxls %q", printed, plain)
	}
	wantSame(t, without, with)
}

// A file whose read or edit failed does not count as a file in use: neither in a running session, nor from the history
// of a session that ctxls sees late.
func TestFailedCalls(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"fail": {
		{Tokens: 20_000, Calls: []e2e.Call{read("nosuch.txt"), read("notes.txt")}},
		{Tokens: 21_000, Calls: []e2e.Call{{Tool: "Edit", Input: map[string]any{"file_path": "$PROJECT/src/util.go", "old_string": "nothere", "new_string": "x"}}}},
		{Tokens: 22_000, Calls: []e2e.Call{{Tool: "Edit", Input: map[string]any{"file_path": "$PROJECT/notes.txt", "old_string": "nothere", "new_string": "x"}}}},
		{Tokens: 23_000, Calls: []e2e.Call{{Tool: "Bash", Input: map[string]any{"command": "cat nosuch.txt", "description": "look"}}}},
		{Tokens: 24_000, Calls: []e2e.Call{{Tool: "Write", Input: map[string]any{"file_path": "/nowhere/denied.txt", "content": "x"}}, read("src/main.go")}},
		{Tokens: 25_000, Text: "Done."},
	}, "more": {{Tokens: 26_000, Text: "More."}}})
	want := []string{"notes.txt", "src/main.go"}
	files := func(session string) []string {
		s, _ := w.Session(session)
		slices.Sort(s.WorkingSet)
		return s.WorkingSet
	}
	w.prompt(two, "[[fail]] before anybody watches", "--allowedTools", "Bash")
	w.install()
	w.prompt(one, "[[fail]] go", "--allowedTools", "Bash")
	if got := files(one); !slices.Equal(got, want) {
		t.Errorf("the working set is %q, want %q", got, want)
	}
	w.prompt(two, "[[more]] go on")
	if got := files(two); !slices.Equal(got, want) {
		t.Errorf("from history the working set is %q, want %q", got, want)
	}
}

// A sub-agent's files and tokens are its own, and it gets no text from ctxls.
func TestSubAgent(t *testing.T) {
	var w *testEnv
	type gauges struct{ Main, Agents, Ended []int }
	figures := func() (g gauges) {
		add := func(to *[]int, u core.Usage) {
			if u.Tokens != nil && u.Exact {
				*to = append(*to, *u.Tokens)
			}
		}
		s, _ := w.Session(one)
		add(&g.Main, s.Usage)
		for _, a := range s.Agents {
			add(&g.Agents, a.Usage)
		}
		for _, a := range s.AgentsEnded {
			if behind := []int{150_000, 155_000}; a.Usage.Stale && slices.Contains(behind, *a.Usage.Tokens) {
				// At the end of a session, the last responses are often missing from the file. The figure then says so.
				*a.Usage.Tokens = 160_000
			}
			add(&g.Ended, a.Usage)
		}
		return g
	}
	var running gauges
	w = newTestEnv(t, map[string][]e2e.Reply{
		"delegate": {
			{Tokens: 50_000, Calls: []e2e.Call{{Tool: "Agent", Input: map[string]any{"description": "look", "prompt": "[[inner]] look around", "subagent_type": "general-purpose"}}}},
			{Tokens: 52_000, Text: "Delegated."},
		},
		"inner": {
			{Tokens: 150_000, Calls: []e2e.Call{read("src/util.go"), recorded(150_000)}},
			{Tokens: 155_000, Calls: []e2e.Call{read("src/main.go")}, Before: func() { running = figures() }},
			{Tokens: 160_000, Text: "Found it."},
		},
		"more": {{Tokens: 53_000, Text: "More."}},
	})
	w.install()
	w.prompt(one, "[[delegate]] have a look", "--allowedTools", "Bash")
	if n := len(w.model.Asked("inner")); n != 3 {
		t.Fatalf("the sub-agent asked %d times: %v", n, w.model.Kinds())
	}
	wantSaid(t, "the sub-agent", w.model.Last("inner"))
	wantSaid(t, "the main chain", w.model.Last("delegate"), guidance)
	if diff := cmp.Diff(gauges{Agents: []int{150_000}}, gauges{Agents: running.Agents, Ended: running.Ended}); diff != "" {
		t.Errorf("while it runs (-want +got):\n%s", diff)
	}
	if main := running.Main; len(main) > 0 && main[0] != 50_000 && main[0] != 52_000 { // meanwhile the main chain continues
		t.Errorf("while it runs, the main gauge says %d", main)
	}
	if diff := cmp.Diff(gauges{Main: []int{52_000}, Ended: []int{160_000}}, figures()); diff != "" {
		t.Errorf("when it has ended (-want +got):\n%s", diff)
	}
	if s, _ := w.Session(one); len(s.WorkingSet) > 0 {
		t.Errorf("the working set of the main chain: %q", s.WorkingSet)
	}
	w.prompt(one, "[[more]] go on")
	if diff := cmp.Diff(gauges{Main: []int{53_000}}, figures()); diff != "" {
		t.Errorf("after the next turn (-want +got):\n%s", diff)
	}
	w.WantRecords("after the next turn")
}

// For newer models, Claude Code uses other texts, and they have another window.
func TestNewerModel(t *testing.T) {
	const newer = "claude-opus-5-5"
	w := newTestEnv(t, map[string][]e2e.Reply{"work": {{Tokens: 800_000, Calls: []e2e.Call{recorded(800_000)}}, {Tokens: 810_000, Text: "Done."}}, "more": {{Tokens: 820_000, Text: "More."}}})
	w.install()
	w.prompt(one, "[[work]] look around", "--model", newer, "--allowedTools", "Bash")
	w.prompt(one, "[[more]] go on", "--model", newer)
	wantSaid(t, "second turn", w.model.Last("more"), guidance,
		"PostToolBatch: ctxls: about 20.0% of this session's context window is still free. There is room to go on with the work at full quality, "+
			"without hurrying or cutting it short.\n[Context Status: 80.0% used (800,000/1,000,000 tokens), 20.0% remaining]", mark(81))
}

// A fork starts with its parent's content. Claude Code reports its tokens, but neither the model nor, at first, a
// transcript. With an unknown window, the model gets no share. The next prompt has both.
func TestFork(t *testing.T) {
	const large = "claude-opus-4-7" // a million tokens
	w := newTestEnv(t, map[string][]e2e.Reply{"work": {{Tokens: 144_000, Text: "Done."}}, "fork": {{Tokens: 150_000, Text: "Forked."}}})
	w.install()
	w.prompt(one, "[[work]] look around", "--model", large)
	cmd, output := w.claude(t.Context(), "-p", "[[fork]] go", "--resume", one, "--fork-session", "--session-id", two, "--model", large)
	if err := cmd.Run(); err != nil {
		t.Fatalf("claude: %v\n%s", err, output)
	}
	wantSaid(t, "the fork's first prompt", w.model.Last("fork"), guidance)
	w.prompt(two, "[[fork]] go on", "--model", large)
	wantSaid(t, "the fork's second prompt", w.model.Last("fork"), guidance, mark(15))
	if from, to := w.Tokens(one), w.Tokens(two); from != 144_000 || to != 150_000 {
		t.Errorf("the gauges say %d and, of the fork, %d", from, to)
	}
}

// Two concurrent sessions in one directory each have their own gauge, working set and conversation.
func TestParallelSessions(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{
		"first":  {{Tokens: 20_000, Calls: []e2e.Call{read("notes.txt")}}, {Tokens: 30_000, Calls: []e2e.Call{read("notes.txt")}}, {Tokens: 31_000, Text: "First."}},
		"second": {{Tokens: 145_000, Calls: []e2e.Call{read("src/main.go")}}, {Tokens: 150_000, Calls: []e2e.Call{read("src/util.go")}}, {Tokens: 151_000, Text: "Second."}},
	})
	w.install("--project")
	both := func() {
		var group sync.WaitGroup
		group.Go(func() { w.prompt(one, "[[first]] go") })
		group.Go(func() { w.prompt(two, "[[second]] go") })
		group.Wait()
	}
	both()
	both()
	want := map[string]e2e.Gauge{one: {Tokens: 31_000, Files: []string{"notes.txt"}}, two: {Tokens: 151_000, Files: []string{"src/main.go", "src/util.go"}}}
	if diff := cmp.Diff(want, w.Gauges()); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	wantSaid(t, "the first session", w.model.Last("first"), guidance, mark(16))
	wantSaid(t, "the second session", w.model.Last("second"), guidance, reminder, mark(76))
}
