//go:build linux && e2e

package opencode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/test/e2e"
)

// work crosses 70 % of the window with its third step, and calls a tool that fails. What a step reports includes the answer.
func work() []e2e.Reply {
	return []e2e.Reply{
		{Tokens: 100_000, Text: "Reading.", Calls: []e2e.Call{read("notes.txt"), read("missing.txt")}},
		{Tokens: 139_000, Calls: []e2e.Call{read("src/main.go"), read("src/util.go")}},
		{Tokens: 141_000, Calls: []e2e.Call{{Tool: "edit", Input: map[string]any{"filePath": "$PROJECT/notes.txt", "oldString": "alpha", "newString": "ALPHA"}}}},
		{Tokens: 142_000, Calls: []e2e.Call{{Tool: "bash", Input: map[string]any{"command": "cat src/main.go", "description": "Show it"}}}},
		{Tokens: 143_000, Text: "Done."},
	}
}

// delegate has a sub-agent look around, whose window is fuller than the main one's.
func delegate() []e2e.Reply {
	return []e2e.Reply{
		{Tokens: 145_000, Calls: []e2e.Call{{Tool: "task", Input: map[string]any{"description": "look", "prompt": "[[inner]] look", "subagent_type": "general"}}}},
		{Tokens: 146_000, Text: "Delegated."},
	}
}

var (
	inner = []e2e.Reply{{Tokens: 160_000, Calls: []e2e.Call{read("deep.txt")}}, {Tokens: 161_000, Text: "Looked."}}
	more  = []e2e.Reply{{Tokens: 144_000, Text: "More."}}
	small = []e2e.Reply{{Tokens: 30_000, Text: "On it."}}
)

// What ctxls says, as its documentation gives the words.
const reminder = "ctxls: about 29.5% of this session's context window is still free. There is room to go on with the work at full quality, " +
	"without hurrying or cutting it short.\n[Context Status: 70.5% used (141,077/200,000 tokens), 29.5% remaining]"

func working(paths ...string) string {
	return "ctxls: working context\nCurrent file paths in context:\n  - " + strings.Join(paths, "\n  - ")
}

func lost(paths ...string) string {
	return "ctxls: working context\nFiles in use before the compaction that its summary does not name:\n  - " + strings.Join(paths, "\n  - ")
}

// ours finds everything that ctxls says, with what joins it to the words of others.
var ours = regexp.MustCompile(`(\n\n)?ctxls: about [^\n]*\n\[Context Status: [^\]]*\]` +
	`|(\n*\[User\]: |\n+)?ctxls measures how full [^\n]* at any level\.` +
	`|(\n*\[User\]: |\n)?\[context used: \d+%\]` +
	`|(\n*\[User\]: |\n+)?ctxls: working context\n(Files|Current file paths) in [^\n]*:(\n  - [^\n]*)+(\n  \.\.\. and \d+ more paths?)?`)

// varying is what differs from run to run by itself.
var varying = regexp.MustCompile(`toolu_\d+|ses_\w+`)

// essence is a request without what ctxls says, and without what differs by itself: names, and the marks of what to cache,
// which go with the last block.
func essence(r e2e.Request) any {
	return e2e.Rewrite(r.Body,
		func(s string) string {
			return strings.TrimSpace(varying.ReplaceAllString(ours.ReplaceAllString(s, ""), "id"))
		},
		func(list []any) any { return e2e.WithoutEmptyTexts(list) }, "cache_control")
}

// said lists what ctxls says in a request, in order.
func said(r e2e.Request) (said []string) {
	for _, text := range e2e.TextsOfRequest(r) {
		for _, found := range ours.FindAllString(text, -1) {
			said = append(said, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(found), "[User]: ")))
		}
	}
	return said
}

// asked returns the requests in order, aside from those for a title, which the host makes beside the others.
func asked(w *testEnv) (kinds []string, requests []e2e.Request) {
	for _, r := range w.model.Requests() {
		if r.Kind != "title" {
			kinds, requests = append(kinds, r.Kind), append(requests, r)
		}
	}
	return kinds, requests
}

// A session that works, passes 70 % of its window, delegates, is compacted by its user, goes on, and is deleted. The model is told
// the share with each prompt once one is known, with the first what that means, the reminder once, and what the summary lost; nothing else that it is sent
// differs from what it is sent without ctxls. Nothing of the session is left at the end.
func TestConversation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	converse := func(install bool) (w *testEnv, session string, answers []string) {
		for _, name := range []string{"home", "project"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		looking := slices.Clone(inner)
		looking[1].Before = func() { // while the sub-agent runs
			if install {
				w.wantAgent("general", 160_000+e2e.OutputTokens)
			}
		}
		w = newTestEnvAt(t, dir, scripts{"work": work(), "delegate": delegate(), "inner": looking, "more": more, "small": small})
		w.Write(filepath.Join(w.Project, "deep.txt"), "deep\n")
		// The model chooses its script by the names in the last prompt: ctxls must not quote those of earlier ones.
		w.Write(filepath.Join(w.Home, ".config", "ctxls", "config.json"), `{"compaction": {"wordTokens": 0, "commandTokens": 0}}`)
		if install {
			w.install()
		}
		w.serve()
		session = w.session("a telling title")
		prompt := func(text string, tokens int) {
			answers = append(answers, w.prompt(session, text))
			if install {
				w.wantTokens(session, tokens+e2e.OutputTokens)
			}
		}
		prompt("[[work]] please look around", 143_000)
		prompt("[[more]] go on", 144_000)
		prompt("[[delegate]] have it looked at", 146_000)
		if install {
			w.wantFills(session, "user", "tool calls", "  read", "  edit", "  bash", "  task")
		}
		w.summarize(session)
		if install {
			w.eventually("the compaction is known", func() bool {
				s, _ := w.Session(session)
				return s.Compactions == 1 && !s.Compacting
			})
			if s, _ := w.Session(session); s.Usage.Exact || *s.Usage.Tokens > 60_000 {
				t.Errorf("after the compaction: %+v", s.Usage)
			}
		}
		prompt("[[small]] go on", 30_000)
		prompt("[[small]] and on", 30_000)
		if install {
			w.wantFills(session, "summary", "user")
		}
		return w, session, answers
	}
	without, _, plain := converse(false)
	without.stop(syscall.SIGTERM)
	with, session, answers := converse(true)

	if diff := cmp.Diff(plain, answers); diff != "" {
		t.Errorf("what people see (-without +with):\n%s", diff)
	}
	kindsWithout, requestsWithout := asked(without)
	kinds, requests := asked(with)
	if diff := cmp.Diff(kindsWithout, kinds); diff != "" {
		t.Fatalf("requests (-without +with):\n%s", diff)
	}
	for i, r := range requests {
		if diff := cmp.Diff(essence(requestsWithout[i]), essence(r)); diff != "" {
			t.Errorf("request %d (%s) differs by more than what ctxls says (-without +with):\n%s", i, r.Kind, diff)
		}
		if rest := strings.Join(e2e.TextsOf(essence(r).(map[string]any)["messages"]), "\n"); strings.Contains(rest, "ctxls") || strings.Contains(rest, "context used") {
			t.Errorf("request %d (%s) says more of ctxls than is known: %s", i, r.Kind, rest)
		}
	}
	guidance := "ctxls measures how full this session's context window is and reports it with each prompt, as in [context used: 50%]. Below 50% there is " +
		"room for tasks of any size. From 50% to 70%, it helps to tell the user before a large task starts. " +
		"Above 70%, it helps to suggest compacting or clearing before a large task; above 85%, to recommend it strongly. " +
		"The marks are information only; work continues at full quality at any level."
	mark := func(percent int) string { return fmt.Sprintf("[context used: %d%%]", percent) }
	afterLoss := []string{lost("src/main.go", "src/util.go")}
	for i, want := range [][]string{
		nil, nil, nil, nil, {reminder}, // the step that passed 70 % is known when the next step's tool has run
		{reminder, guidance, mark(72)},
		{reminder, guidance, mark(72), mark(72)}, nil, nil, {reminder, guidance, mark(72), mark(72)}, // the two in the middle are the sub-agent's
		{reminder, guidance, mark(72), mark(72), working("notes.txt", "src/main.go", "src/util.go")},
		afterLoss, append(slices.Clone(afterLoss), mark(15)),
	} {
		if diff := cmp.Diff(want, said(requests[i])); diff != "" {
			t.Errorf("request %d (%s): what ctxls said (-want +got):\n%s", i, kinds[i], diff)
		}
	}

	s, _ := with.Session(session)
	if len(s.Agents) != 0 {
		t.Errorf("the sub-agent has ended, but there is %+v", s.Agents)
	}
	if slices.Sort(s.WorkingSet); !slices.Equal(s.WorkingSet, []string{"notes.txt", "src/main.go", "src/util.go"}) {
		t.Errorf("the working set: %q; what failed and what the sub-agent read is not in it", s.WorkingSet)
	}
	if got := len(with.Sessions()); got != 1 {
		t.Errorf("%d sessions, want one: the sub-agent's is none of its own", got)
	}
	child := with.child(session)
	with.raw("DELETE", "/session/"+session, nil)
	with.eventually("the session is forgotten", func() bool { return len(with.Sessions()) == 0 })
	with.wantForgotten("a telling title", "notes.txt", "main.go", child, with.Project)
}

// wantFills checks that the breakdown of a session has lines that begin like this.
func (w *testEnv) wantFills(session string, lines ...string) {
	w.T.Helper()
	out := w.CTXLS("breakdown", session)
	for _, line := range lines {
		if !regexp.MustCompile(`(?m)^` + line + ` +\S+ +~\d`).MatchString(out) {
			w.T.Errorf("what fills the window has no %q:\n%s", line, out)
		}
	}
}

// wantAgent waits until the only session has a sub-agent that holds so many tokens.
func (w *testEnv) wantAgent(kind string, tokens int) {
	w.eventually("the sub-agent has a gauge of its own", func() bool {
		s := w.Sessions()
		return len(s) == 1 && len(s[0].Agents) == 1 && s[0].Agents[0].AgentType == kind && s[0].Agents[0].Usage.Tokens != nil && *s[0].Agents[0].Usage.Tokens == tokens
	})
}

// child returns the session of the host's that is the sub-agent of another.
func (w *testEnv) child(session string) string {
	w.T.Helper()
	var children []struct{ ID string }
	if err := json.Unmarshal(w.raw("GET", "/session/"+session+"/children", nil), &children); err != nil || len(children) != 1 {
		w.T.Fatalf("%v, children %v", err, children)
	}
	return children[0].ID
}

// wantForgotten waits until the files of the store hold none of the texts: that a session is gone is seen before the log is folded.
func (w *testEnv) wantForgotten(texts ...string) {
	w.T.Helper()
	e2e.Eventually(w.T, func() (held string) {
		files, _ := filepath.Glob(filepath.Join(w.Home, ".local", "state", "ctxls", "state.db*"))
		if len(files) == 0 {
			return "there is no store"
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // whoever was the last with the store takes its log away
				w.T.Fatal(err)
			}
			for _, text := range texts {
				if bytes.Contains(data, []byte(text)) {
					held += fmt.Sprintf("%s holds %q\n", filepath.Base(file), text)
				}
			}
		}
		return held
	})
}

// Sessions at once, each compacted by the host itself, in the midst of a turn, which goes on: 25 files are 20 in the prompt of the
// model that writes the summary. Two of them meet a plugin that sets a prompt of its own, whereupon the host drops all context:
// one that is called before ctxls, and one after it.
func TestCompaction(t *testing.T) {
	t.Parallel()
	calls := func(name string) (calls []e2e.Call) {
		for i := range 25 {
			calls = append(calls, read(fmt.Sprintf("%s/f%02d.txt", name, i)))
		}
		return calls
	}
	names := []string{"plain", "before", "after"}
	s := scripts{}
	for _, name := range names {
		s[name] = []e2e.Reply{{Tokens: 150_000, Calls: calls(name)}, {Tokens: 190_000, Calls: []e2e.Call{read(name + "/f24.txt")}}, {Tokens: 25_000, Text: "Went on."}}
	}
	w := newTestEnv(t, s)
	for _, name := range names {
		for i := range 25 {
			w.Write(filepath.Join(w.Project, name, fmt.Sprintf("f%02d.txt", i)), "x\n")
		}
	}
	w.CTXLS("install", "opencode", "--project")
	for file, name := range map[string]string{"a.js": "before", "z.js": "after"} {
		w.Write(filepath.Join(w.Project, ".opencode", "plugin", file), fmt.Sprintf(`export const Other = async ({ client }) => ({
  "experimental.session.compacting": async ({ sessionID }, output) => {
    const { data } = await client.session.get({ path: { id: sessionID } })
    if (data.title === %[1]q) output.prompt = "A PROMPT OF ITS OWN, %[1]s"
  },
})`, name))
	}
	w.serve()
	ids := map[string]string{}
	for _, name := range names {
		ids[name] = w.session(name)
	}
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { w.prompt(ids[name], "[["+name+"]] read them all") })
	}
	all.Wait()
	for _, name := range names {
		w.eventually(name+" was compacted once and went on", func() bool {
			s, ok := w.Session(ids[name])
			return ok && s.Compactions == 1 && s.Usage.Exact && *s.Usage.Tokens < 30_000
		})
	}
	if got := w.servers(); len(got) != 1 {
		t.Errorf("%d servers, want one for all sessions", len(got))
	}
	summaries := w.model.Asked("summary")
	if len(summaries) != len(names) {
		t.Fatalf("%d summaries, want %d", len(summaries), len(names))
	}
	for _, r := range summaries {
		text := strings.Join(e2e.TextsOf(r.Body["messages"]), "\n")
		name := "plain"
		for _, n := range names {
			if strings.Contains(text, "[["+n+"]]") || strings.Contains(text, "ITS OWN, "+n) {
				name = n
			}
		}
		// The one read last, and those that come first by name among equals.
		var paths []string
		for i := range 25 {
			paths = append(paths, fmt.Sprintf("%s/f%02d.txt", name, i))
		}
		before, context, found := strings.Cut(text, "ctxls: working context\n")
		context, after, _ := strings.Cut(context, "\n\n")
		if !found {
			t.Errorf("%s: no working context in …%s", name, text[max(0, len(text)-2000):])
			continue
		}
		lines := strings.Split(strings.TrimSpace("ctxls: working context\n"+context), "\n")
		if len(lines) != 23 || lines[0] != "ctxls: working context" || lines[22] != "  ... and 5 more paths" || !slices.IsSorted(lines[2:22]) {
			t.Errorf("%s: the working context: %q", name, lines)
			continue
		}
		for _, line := range lines[2:22] {
			if !slices.Contains(paths, strings.TrimPrefix(line, "  - ")) {
				t.Errorf("%s: %q is of another session", name, line)
			}
		}
		// The host's own prompt comes after the conversation, another plugin's before it; the working context ends either.
		if own := strings.HasSuffix(before, "A PROMPT OF ITS OWN, "+name+"\n\n"); own != (name != "plain") || own == (after == "") {
			t.Errorf("%s: the working context stands between …%q and %q…", name, before[max(0, len(before)-300):], after[:min(len(after), 300)])
		}
	}
	for _, name := range names {
		w.raw("DELETE", "/session/"+ids[name], nil)
	}
	w.eventually("the sessions are forgotten", func() bool { return len(w.Sessions()) == 0 })
}
