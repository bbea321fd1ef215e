//go:build linux && e2e

package claudecode

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
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
)

// Two sessions.
const one, two = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"

// What ctxls says, as its documentation gives the words.
const (
	guidance = "SessionStart: ctxls measures how full this session's context window is and says so with each prompt, as in " +
		"[context used: 50%]. Below 50% there is room for tasks of any size. From 50% to 70% it helps the user to hear about " +
		"it before a large task starts. Above 70%, suggesting to compact or clear before a large task is useful, and above 85% " +
		"recommending it strongly is. The marks are for information only; work goes on at full quality at any level."
	// reminder stands for what remind says.
	reminder = "PostToolBatch: the reminder"
)

// remind is the reminder at a share in tenths of a percent.
func remind(tenths int, tokens string) string {
	left := 1000 - tenths
	return fmt.Sprintf("PostToolBatch: ctxls: about %d.%d%% of this session's context window is still free. There is room to go on "+
		"with the work at full quality, without hurrying or cutting it short.\n"+
		"[Context Status: %d.%d%% used (%s/200,000 tokens), %d.%d%% remaining]", left/10, left%10, tenths/10, tenths%10, tokens, left/10, left%10)
}

// reminders are those that can be right: Claude Code writes its transcript a moment later than it runs its hooks, so the batch that
// comes next is sometimes the first to see that 70 % were passed.
var reminders = []string{remind(705, "141,000"), remind(710, "142,000"), remind(725, "145,000"), remind(750, "150,000")}

func mark(percent int) string { return fmt.Sprintf("UserPromptSubmit: [context used: %d%%]", percent) }

// work crosses 70 % of the window with its third batch of tools, and takes a moment over the fourth.
func work() []reply {
	return []reply{
		{tokens: 100_000, text: "Reading.", calls: []call{read("notes.txt")}},
		{tokens: 139_000, calls: []call{read("src/main.go"), read("src/util.go")}},
		{tokens: 141_000, calls: []call{{"Edit", map[string]any{"file_path": "$PROJECT/notes.txt", "old_string": "alpha", "new_string": "ALPHA"}}}},
		{tokens: 142_000, calls: []call{{"Bash", map[string]any{"command": "sleep 0.3; echo hello", "description": "Greet"}}}},
		{tokens: 143_000, text: "Done."},
	}
}

func wantSaid(t *testing.T, what string, r request, want ...string) {
	t.Helper()
	said := r.said()
	for i := range said {
		if slices.Contains(reminders, said[i]) {
			said[i] = reminder
		}
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("%s: what was said to the model (-want +got):\n%s", what, diff)
	}
}

// Two turns of work. The model is told what the marks mean, the share with a prompt once one is known, and the reminder once, when
// the share passes 70 %; nothing else that it is sent differs from what it is sent without ctxls.
func TestConversation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	converse := func(install bool) (*world, string) {
		for _, name := range []string{"home", "project"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		w := newWorldAt(t, dir, map[string][]reply{"work": work(), "more": {{tokens: 144_000, text: "More."}}})
		if install {
			w.install()
		}
		printed := w.prompt(one, "[[work]] please look around", "--allowedTools", "Bash") + w.prompt(one, "[[more]] go on") + w.prompt(one, "[[more]] and on")
		return w, printed
	}
	without, plain := converse(false)
	with, printed := converse(true)

	all := with.model.asked("work")
	if len(all) != 5 {
		t.Fatalf("the model was asked %v", with.model.kinds())
	}
	wantSaid(t, "first request", all[0], guidance)
	wantSaid(t, "below 70 %", all[2], guidance)
	wantSaid(t, "past 70 %", all[4], guidance, reminder)
	wantSaid(t, "third turn", with.model.last("more"), guidance, reminder, mark(72), mark(72))
	if got := with.Tokens(one); got != 144_000 {
		t.Errorf("the gauge says %d", got)
	}

	if plain != printed {
		t.Errorf("people see %q, without ctxls %q", printed, plain)
	}
	wantSame(t, without, with)
}

// All that a session does: tools, side by side too, one that fails, a sub-agent, a compaction of either kind. The model is asked
// the same with ctxls as without, but for what ctxls says.
func TestNothingElseChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	converse := func(install bool) *world {
		for _, name := range []string{"home", "project"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		w := newWorldAt(t, dir, map[string][]reply{
			"work": {
				{tokens: 100_000, text: "Reading.", calls: []call{read("notes.txt")}},
				// Beside each other, but one file only: after a compaction the host lists files in the order in which they were read.
				{tokens: 141_000, calls: []call{read("src/main.go"), {"Bash", map[string]any{"command": "echo hello", "description": "Greet"}}}},
				{tokens: 143_000, text: "Done."},
			},
			"delegate": {
				{tokens: 144_000, calls: []call{{"Agent", map[string]any{"description": "look", "prompt": "[[inner]] look around",
					"subagent_type": "general-purpose", "run_in_background": false}}}},
				{tokens: 145_000, calls: []call{read("nosuch.txt"), read("notes.txt")}},
				{tokens: 146_000, text: "Delegated."},
			},
			"inner": {{tokens: 20_000, calls: []call{read("src/util.go")}}, {tokens: 21_000, text: "Found it."}},
			"fill":  {{tokens: 90_000, calls: []call{read("src/main.go")}}, {tokens: 191_000, calls: []call{read("notes.txt")}}, {tokens: 40_000, text: "Filled."}},
			"small": {{tokens: 41_000, calls: []call{read("notes.txt")}}, {tokens: 42_000, text: "On it."}},
		})
		if install {
			w.install("--statusline")
		}
		for _, prompt := range []string{"[[work]] please look around", "[[delegate]] have it looked at", "/compact", "[[small]] go on", "[[fill]] read it all", "[[small]] and on"} {
			w.prompt(one, prompt, "--allowedTools", "Bash")
		}
		return w
	}
	without, with := converse(false), converse(true)
	for kind, n := range map[string]int{"work": 3, "delegate": 3, "inner": 2, "summary": 2} {
		if got := len(with.model.asked(kind)); got != n {
			t.Errorf("%d requests of the kind %s, want %d: %v", got, kind, n, with.model.kinds())
		}
	}
	wantSame(t, without, with)
}

// wantSame checks that the model was asked the same in two worlds, but for what ctxls says.
func wantSame(t *testing.T, without, with *world) {
	t.Helper()
	if diff := cmp.Diff(without.model.kinds(), with.model.kinds()); diff != "" {
		t.Fatalf("requests (-without +with):\n%s", diff)
	}
	for i, r := range with.model.requests {
		if diff := cmp.Diff(essence(without.model.requests[i]), essence(r)); diff != "" {
			t.Errorf("request %d (%s) differs by more than what ctxls says (-without +with):\n%s", i, r.kind, diff)
		}
	}
}

// budget is a note of Claude Code's own that goes with the last of several results.
var budget = regexp.MustCompile(`<system-reminder>\n<total_tokens>.*</total_tokens>\n</system-reminder>\n*`)

// What ctxls says to the model that writes a summary, and what Claude Code shows of our hooks after /compact.
var (
	instructed = regexp.MustCompile(`Additional Instructions:\nctxls: working context\nCurrent file paths in context:\n(  - .*\n)+\n`)
	echoed     = regexp.MustCompile(`\nPreCompact \[.*ctxls hook claude-code\] completed successfully: ctxls: working context\nCurrent file paths in context:\n` +
		`(  - .*\n)+PostCompact \[.*ctxls hook claude-code\] completed successfully</local-command-stdout>`)
)

// random is what Claude Code says of a sub-agent that is never the same.
var random = regexp.MustCompile(`(agentId: |to: '|duration_ms: )\w+`)

// essence is a request without what ctxls says and without what differs from run to run by itself: the device's id, the marks of
// what to cache, which go with the last block, the order in which parallel tools ended, and names and times of sub-agents.
func essence(r request) any {
	var strip func(v any) any
	strip = func(v any) any {
		switch v := v.(type) {
		case string:
			v = echoed.ReplaceAllString(instructed.ReplaceAllString(framed.ReplaceAllString(v, ""), ""), "</local-command-stdout>")
			return strings.TrimRight(budget.ReplaceAllString(random.ReplaceAllString(v, "$1"), ""), " \t\n")
		case []any:
			kept := []any{}
			for _, part := range v {
				stripped := strip(part)
				if block, ok := stripped.(map[string]any); ok && block["type"] == "text" && block["text"] == "" {
					continue
				}
				kept = append(kept, stripped)
			}
			slices.SortStableFunc(kept, func(a, b any) int { return strings.Compare(resultOf(a), resultOf(b)) })
			if len(kept) == 1 { // one block of text is sent as a string, too
				if block, ok := kept[0].(map[string]any); ok && len(block) == 2 && block["type"] == "text" {
					return block["text"]
				}
			}
			return kept
		case map[string]any:
			kept := map[string]any{}
			for name, member := range v {
				if name != "cache_control" && name != "metadata" {
					kept[name] = strip(member)
				}
			}
			return kept
		}
		return v
	}
	return strip(r.body)
}

// resultOf returns the call that a block is the result of, "" for any other block.
func resultOf(block any) string {
	b, _ := block.(map[string]any)
	id, _ := b["tool_use_id"].(string)
	return id
}

// A compaction that a person asks for. The model that writes the summary is given the files in use; the gauge falls. Claude Code
// shows what PreCompact printed and lets the model read along: by that the lost files are back, and ctxls tells them no second time.
func TestManualCompaction(t *testing.T) {
	w := newWorld(t, map[string][]reply{"work": work(), "small": {{tokens: 30_000, text: "On it."}}})
	w.install()
	w.prompt(one, "[[work]] please look around", "--allowedTools", "Bash")
	w.prompt(one, "/compact")
	context := "ctxls: working context\nCurrent file paths in context:\n  - notes.txt\n  - src/main.go\n  - src/util.go"
	if texts := strings.Join(w.model.last("summary").texts(), "\n"); strings.Count(texts, context) != 1 {
		t.Errorf("the summariser was not given the working context:\n%s", texts[max(0, len(texts)-3000):])
	}
	s, _ := w.Session(one)
	if s.Compactions != 1 || s.Usage.Tokens == nil || *s.Usage.Tokens > 60_000 || s.Usage.Exact {
		t.Errorf("after the compaction: %d compactions, %+v", s.Compactions, s.Usage)
	}
	w.prompt(one, "[[small]] go on")
	wantSaid(t, "after the compaction", w.model.last("small"))
	if got := w.Tokens(one); got != 30_000 {
		t.Errorf("the gauge says %d", got)
	}
	w.prompt(one, "[[small]] go on")
	wantSaid(t, "the prompt after that", w.model.last("small"), mark(15))
	wantTold(t, w.model.last("small"), map[string]int{"notes.txt": 1, "src/main.go": 1, "src/util.go": 1})
}

// dim takes out what Claude Code writes around the lines that it shows.
var dim = strings.NewReplacer("\x1b[2m", "", "\x1b[22m", "", "</local-command-stdout>", "")

// wantTold checks how often a request names files in the words of ctxls, wherever they stand in it.
func wantTold(t *testing.T, r request, want map[string]int) {
	t.Helper()
	ours := r.said()
	for _, text := range r.texts() {
		ours = append(ours, shown.FindAllString(text, -1)...)
	}
	got := map[string]int{}
	for line := range strings.SplitSeq(dim.Replace(strings.Join(ours, "\n")), "\n") {
		if file, ok := strings.CutPrefix(line, "  - "); ok {
			got[file]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("how often the model is told of files (-want +got):\n%s", diff)
	}
}

// A compaction that the host does by itself in the midst of a turn.
func TestAutomaticCompaction(t *testing.T) {
	w := newWorld(t, map[string][]reply{
		"fill": {
			{tokens: 90_000, calls: []call{read("src/main.go"), read("src/util.go")}},
			{tokens: 191_000, calls: []call{read("notes.txt")}},
			{tokens: 40_000, text: "Filled."},
		},
		"small": {{tokens: 41_000, text: "On it."}},
	})
	w.install()
	w.prompt(one, "[[fill]] read it all")
	if texts := strings.Join(w.model.last("summary").texts(), "\n"); !strings.Contains(texts, "ctxls: working context\nCurrent file paths in context:\n") {
		t.Errorf("the summariser was not given the working context:\n%s", texts[max(0, len(texts)-3000):])
	}
	if s, _ := w.Session(one); s.Compactions != 1 {
		t.Errorf("%d compactions", s.Compactions)
	}
	if got := w.Tokens(one); got > 41_000 {
		t.Errorf("the gauge says %d", got)
	}
	w.prompt(one, "[[small]] go on")
	w.prompt(one, "[[small]] go on")
	if texts := strings.Join(w.model.last("small").texts(), "\n"); strings.Contains(texts, "Current file paths in context") {
		t.Error("the working context reached more than the summariser")
	}
	wantTold(t, w.model.last("small"), map[string]int{"src/main.go": 1, "src/util.go": 1})
}

// What cannot be read or edited is no file that the session works on: neither while it runs, nor read from the history of a
// session that ctxls meets late.
func TestFailedCalls(t *testing.T) {
	w := newWorld(t, map[string][]reply{"fail": {
		{tokens: 20_000, calls: []call{read("nosuch.txt"), read("notes.txt")}},
		{tokens: 21_000, calls: []call{{"Edit", map[string]any{"file_path": "$PROJECT/src/util.go", "old_string": "nothere", "new_string": "x"}}}},
		{tokens: 22_000, calls: []call{{"Edit", map[string]any{"file_path": "$PROJECT/notes.txt", "old_string": "nothere", "new_string": "x"}}}},
		{tokens: 23_000, calls: []call{{"Bash", map[string]any{"command": "cat nosuch.txt", "description": "look"}}}},
		{tokens: 24_000, calls: []call{{"Write", map[string]any{"file_path": "/nowhere/denied.txt", "content": "x"}}, read("src/main.go")}},
		{tokens: 25_000, text: "Done."},
	}, "more": {{tokens: 26_000, text: "More."}}})
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

// What a sub-agent reads and holds is its own. Neither is it told anything.
func TestSubAgent(t *testing.T) {
	var w *world
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
				// The last responses are often not in the file yet when the end is told, and then the figure says so.
				*a.Usage.Tokens = 160_000
			}
			add(&g.Ended, a.Usage)
		}
		return g
	}
	var running gauges
	w = newWorld(t, map[string][]reply{
		"delegate": {
			{tokens: 50_000, calls: []call{{"Agent", map[string]any{"description": "look", "prompt": "[[inner]] look around", "subagent_type": "general-purpose"}}}},
			{tokens: 52_000, text: "Delegated."},
		},
		"inner": {
			{tokens: 150_000, calls: []call{read("src/util.go")}},
			{tokens: 155_000, calls: []call{read("src/main.go")}, before: func() { running = figures() }},
			{tokens: 160_000, text: "Found it."},
		},
		"more": {{tokens: 53_000, text: "More."}},
	})
	w.install()
	w.prompt(one, "[[delegate]] have a look")
	if n := len(w.model.asked("inner")); n != 3 {
		t.Fatalf("the sub-agent asked %d times: %v", n, w.model.kinds())
	}
	wantSaid(t, "the sub-agent", w.model.last("inner"))
	wantSaid(t, "the main chain", w.model.last("delegate"), guidance)
	if diff := cmp.Diff(gauges{Agents: []int{150_000}}, gauges{Agents: running.Agents, Ended: running.Ended}); diff != "" {
		t.Errorf("while it runs (-want +got):\n%s", diff)
	}
	if main := running.Main; len(main) > 0 && main[0] != 50_000 && main[0] != 52_000 { // the main chain goes on meanwhile
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
}

// Newer models are told in other words of Claude Code's, and have another window.
func TestNewerModel(t *testing.T) {
	const newer = "claude-opus-5-5"
	w := newWorld(t, map[string][]reply{"work": {{tokens: 800_000, calls: []call{read("notes.txt")}}, {tokens: 810_000, text: "Done."}}, "more": {{tokens: 820_000, text: "More."}}})
	w.install()
	w.prompt(one, "[[work]] look around", "--model", newer)
	w.prompt(one, "[[more]] go on", "--model", newer)
	wantSaid(t, "second turn", w.model.last("more"), guidance,
		"PostToolBatch: ctxls: about 20.0% of this session's context window is still free. There is room to go on with the work at full quality, "+
			"without hurrying or cutting it short.\n[Context Status: 80.0% used (800,000/1,000,000 tokens), 20.0% remaining]", mark(81))
}

// A fork begins with all that its parent holds, and Claude Code says how much, but neither the model nor, yet, a transcript: with the
// window unknown nothing is said of the share. The next prompt has both.
func TestFork(t *testing.T) {
	const large = "claude-opus-4-7" // a million tokens
	w := newWorld(t, map[string][]reply{"work": {{tokens: 144_000, text: "Done."}}, "fork": {{tokens: 150_000, text: "Forked."}}})
	w.install()
	w.prompt(one, "[[work]] look around", "--model", large)
	cmd, output := w.claude(t.Context(), "-p", "[[fork]] go", "--resume", one, "--fork-session", "--session-id", two, "--model", large)
	if err := cmd.Run(); err != nil {
		t.Fatalf("claude: %v\n%s", err, output)
	}
	wantSaid(t, "the fork's first prompt", w.model.last("fork"), guidance)
	w.prompt(two, "[[fork]] go on", "--model", large)
	wantSaid(t, "the fork's second prompt", w.model.last("fork"), guidance, mark(15))
	if from, to := w.Tokens(one), w.Tokens(two); from != 144_000 || to != 150_000 {
		t.Errorf("the gauges say %d and, of the fork, %d", from, to)
	}
}

// A host that is told to stop ends its session, and what was known of it stays.
func TestTermination(t *testing.T) {
	w := newWorld(t, map[string][]reply{"slow": {{tokens: 100_000, calls: []call{read("notes.txt")}}, {hang: true}}})
	w.install("--local")
	cmd, output := w.claude(t.Context(), "-p", "[[slow]] take your time", "--session-id", one)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		if n := len(w.model.asked("slow")); n < 2 {
			return fmt.Sprintf("the model was asked %d times\n%s", n, output)
		}
		return ""
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it says how it was ended
	eventually(t, func() string {
		if s, _ := w.Session(one); s.State != core.StateEnded {
			return "the session is " + string(s.State)
		}
		return ""
	})
	if got := w.Tokens(one); got != 100_000 {
		t.Errorf("the gauge says %d", got)
	}
}

// Two sessions in one directory at one time have a gauge, a working set and a conversation each.
func TestParallelSessions(t *testing.T) {
	w := newWorld(t, map[string][]reply{
		"first":  {{tokens: 20_000, calls: []call{read("notes.txt")}}, {tokens: 30_000, calls: []call{read("notes.txt")}}, {tokens: 31_000, text: "First."}},
		"second": {{tokens: 145_000, calls: []call{read("src/main.go")}}, {tokens: 150_000, calls: []call{read("src/util.go")}}, {tokens: 151_000, text: "Second."}},
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
	type known struct {
		Tokens int
		Files  []string
	}
	got := map[string]known{}
	for _, s := range w.Sessions() {
		slices.Sort(s.WorkingSet)
		got[s.SessionID] = known{w.Tokens(s.SessionID), s.WorkingSet}
	}
	want := map[string]known{one: {31_000, []string{"notes.txt"}}, two: {151_000, []string{"src/main.go", "src/util.go"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	wantSaid(t, "the first session", w.model.last("first"), guidance, mark(16))
	wantSaid(t, "the second session", w.model.last("second"), guidance, reminder, mark(76))
}

// A refused request states the window.
func TestRefusal(t *testing.T) {
	w := newWorld(t, map[string][]reply{"big": {{refusal: "prompt is too long: 210000 tokens > 180000 maximum"}}})
	w.install()
	w.prompt(one, "[[big]] everything")
	s, _ := w.Session(one)
	if s.Usage.WindowTokens != 180_000 || s.Usage.WindowProvenance != "learned" {
		t.Errorf("the window is %d, %s", s.Usage.WindowTokens, s.Usage.WindowProvenance)
	}
}

// A ctxls that cannot keep anything says nothing and stands in nobody's way.
func TestBrokenState(t *testing.T) {
	w := newWorld(t, map[string][]reply{"work": work()})
	w.install()
	w.Write(filepath.Join(w.Home, ".local", "state"), "a file where the directory should be")
	if printed := w.prompt(one, "[[work]] please look around", "--allowedTools", "Bash"); printed != "Done.\n" {
		t.Errorf("people see %q", printed)
	}
	wantSaid(t, "all of it", w.model.last("work"))
	if n := len(w.model.asked("work")); n != 5 {
		t.Errorf("the model was asked %d times", n)
	}
}

// The plugin does what the installed hooks do.
func TestPlugin(t *testing.T) {
	w := newWorld(t, map[string][]reply{"work": work(), "more": {{tokens: 144_000, text: "More."}}})
	plugin, err := filepath.Abs("../../adapters/claude-code")
	if err != nil {
		t.Fatal(err)
	}
	w.prompt(one, "[[work]] please look around", "--allowedTools", "Bash", "--plugin-dir", plugin)
	w.prompt(one, "[[more]] go on", "--plugin-dir", plugin)
	wantSaid(t, "second turn", w.model.last("more"), guidance, reminder, mark(72))
}

// The plugin beside installed hooks: both run, and the second finds the prompt marked.
func TestPluginBesideInstall(t *testing.T) {
	w := newWorld(t, map[string][]reply{"more": {{tokens: 144_000, text: "More."}}})
	plugin, err := filepath.Abs("../../adapters/claude-code")
	if err != nil {
		t.Fatal(err)
	}
	w.install("--user")
	w.prompt(one, "[[more]] go", "--plugin-dir", plugin)
	w.prompt(one, "[[more]] go", "--plugin-dir", plugin)
	wantSaid(t, "second turn", w.model.last("more"), guidance, mark(72))
}

// Installed for the user and for the project, ctxls runs and speaks once all the same.
func TestInstalledTwice(t *testing.T) {
	w := newWorld(t, map[string][]reply{"more": {{tokens: 144_000, text: "More."}}})
	w.install("--user")
	w.install("--local")
	w.prompt(one, "[[more]] go")
	w.prompt(one, "[[more]] go")
	wantSaid(t, "second turn", w.model.last("more"), guidance, mark(72))
}

// After all that Claude Code does, uninstalling gives its settings back.
func TestUninstall(t *testing.T) {
	w := newWorld(t, map[string][]reply{"more": {{tokens: 144_000, text: "More."}}})
	mine := "{\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}\n"
	w.Write(w.settings(), mine)
	w.install()
	w.prompt(one, "[[more]] go")
	w.CTXLS("uninstall", "claude-code")
	got, err := os.ReadFile(w.settings())
	if err != nil || string(got) != mine {
		t.Errorf("%v, settings (-want +got):\n%s", err, cmp.Diff(mine, string(got)))
	}
	w.prompt(one, "[[more]] go")
	wantSaid(t, "after uninstalling", w.model.last("more"), guidance)
}

// eventually waits until a condition holds, which says what is wrong as long as it does not.
func eventually(t *testing.T, wrong func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		problem := wrong()
		if problem == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(problem)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// One variable turns ctxls off for whoever starts the host with it.
func TestDisabled(t *testing.T) {
	w := newWorld(t, map[string][]reply{"more": {{tokens: 144_000, text: "More."}}})
	w.install()
	w.Env = append(w.Env, "CTXLS_DISABLE=1")
	w.prompt(one, "[[more]] go")
	wantSaid(t, "with ctxls turned off", w.model.last("more"))
	if s := w.Sessions(); len(s) != 0 {
		t.Errorf("sessions: %+v", s)
	}
}
