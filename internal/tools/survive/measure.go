package main

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
)

// class counts one kind of fact over all compactions.
type class struct {
	N, Named           int
	Needed20, Lost20   int // needed in the next 20 responses; of these not named
	Needed50, Lost50   int
	Recovered20, Given int // of the lost and needed ones; of all
}

// budget is what one rule achieves within so many tokens.
type budget struct {
	Tokens                      int
	Needed, Recovered           int // lost and needed in the next 20 responses, and given back
	Given                       int
	RecentRecovered, RecentSeen int // by recency alone
}

// words counts prompts.
type words struct {
	Current, CurrentNamed int // of the window that ended
	Older, OlderNamed     int // of the windows before
	Lost                  int // at second and later compactions, of all windows
	Back400, Back600      int
	Tokens400             int
}

type tables struct {
	Sessions, Compactions, Automatic, Later, Pseudo int

	Classes map[string]*class
	Visible []budget // compactions with a summary
	Hidden  []budget // sessions that were cut
	Words   words
	Rereads struct{ Reads, Again, Compactions, Characters, Results int }

	Recall recallTable

	count func(string) int
}

var budgets = []int{150, 250, 500}

func (t *tables) class(name string) *class {
	if t.Classes == nil {
		t.Classes = map[string]*class{}
	}
	if t.Classes[name] == nil {
		t.Classes[name] = &class{}
	}
	return t.Classes[name]
}

// session measures one session.
func (t *tables) session(entries []session.Entry) {
	responses, last := 0, ""
	for _, e := range entries {
		if e.Report != nil && (e.Report.MessageID == "" || e.Report.MessageID != last) {
			responses, last = responses+1, e.Report.MessageID
		}
	}
	if responses < 2 {
		return
	}
	t.Sessions++
	count := 0
	for i, e := range entries {
		if !isCompaction(e) {
			continue
		}
		count++
		t.Compactions++
		if e.Boundary.Automatic {
			t.Automatic++
		}
		if count > 1 {
			t.Later++
		}
		end := i + 1
		for end < len(entries) && end < i+6 && !(entries[end].Boundary != nil && entries[end].Boundary.Summary != "") {
			end++
		}
		if end == len(entries) || end == i+6 {
			end = i
		}
		past := collect(entries[:end+1])
		after := follow(entries[end+1:], 50)
		t.visible(past, after, count)
		t.rereads(entries[:i], entries[end+1:])
		t.Recall.compaction(entries[:i+1], entries[end+1:], past, tools)
	}
	if count == 0 && responses >= 30 {
		t.Pseudo++
		seen, cut := 0, 0
		for i, e := range entries {
			if e.Report != nil {
				if seen++; cut == 0 && e.Report.MessageID != "" && seenResponses(entries[:i]) >= responses*6/10 {
					cut = i
				}
			}
		}
		if cut > 0 {
			past := collect(entries[:cut])
			t.budgets(&t.Hidden, past, follow(entries[cut:], 50))
		}
	}
}

func seenResponses(entries []session.Entry) (n int) {
	last := ""
	for _, e := range entries {
		if e.Report != nil && e.Report.MessageID != last {
			n, last = n+1, e.Report.MessageID
		}
	}
	return n
}

func isCompaction(e session.Entry) bool {
	return e.Boundary != nil && !e.Boundary.Micro && e.Boundary.ID != ""
}

// tools are the names of tools of the host whose record is measured.
var tools map[string]session.ToolClass

func collect(entries []session.Entry) survival.Past {
	c := survival.Collector{Tools: tools}
	for _, e := range slices.Backward(entries) {
		c.Add(e)
	}
	return c.Past()
}

// future is what the inputs of tools hold in the responses after a compaction: after how many of them at first.
type future struct {
	paths, commands map[string]int
}

func follow(entries []session.Entry, limit int) future {
	f := future{map[string]int{}, map[string]int{}}
	n, last := 0, ""
	for _, e := range entries {
		if isCompaction(e) {
			break
		}
		if e.Report != nil && e.Report.MessageID != last {
			if n, last = n+1, e.Report.MessageID; n > limit {
				break
			}
		}
		for _, use := range e.Paths {
			note(f.paths, use.Path, n)
		}
		for _, p := range e.Content {
			if p.Class == session.ToolCall && tools[p.Tool] == session.ShellTool {
				for _, c := range survival.SplitCommand(survival.CommandOf(p.Text)) {
					note(f.commands, c, n)
				}
			}
		}
	}
	return f
}

func note(m map[string]int, key string, n int) {
	if _, ok := m[key]; !ok {
		m[key] = n
	}
}

func (t *tables) visible(past survival.Past, after future, count int) {
	summary := past.Summary()
	for _, p := range past.Paths {
		at, needed := after.paths[p.Path]
		for _, name := range []string{"path, all", map[session.Use]string{session.Edited: "– edited", session.Read: "– read only", session.Mentioned: "– mentioned"}[p.Use]} {
			t.class(name).add(namesPath(summary, p.Path), needed, at)
		}
	}
	for _, c := range past.Commands {
		at, needed := after.commands[c.Text]
		t.class("command").add(strings.Contains(summary, c.Text), needed, at)
		if c.OfProject() {
			t.class("– of the project's own").add(strings.Contains(summary, c.Text), needed, at)
		}
	}
	t.words(past, summary, count)
	t.budgets(&t.Visible, past, after)
}

func (c *class) add(named, needed bool, at int) {
	c.N++
	if named {
		c.Named++
	}
	if needed && at <= 20 {
		c.Needed20++
		if !named {
			c.Lost20++
		}
	}
	if needed {
		c.Needed50++
		if !named {
			c.Lost50++
		}
	}
}

func namesPath(summary, p string) bool { return strings.Contains(summary, path.Base(p)) }

func (t *tables) words(past survival.Past, summary string, count int) {
	plain := survival.Plain(summary)
	var lost []survival.Prompt
	for i, p := range past.Prompts {
		named := survival.Holds(plain, p.Text)
		if p.Window == 0 {
			t.Words.Current++
			if named {
				t.Words.CurrentNamed++
			}
		} else {
			t.Words.Older++
			if named {
				t.Words.OlderNamed++
			}
		}
		if !named && i > 0 {
			lost = append(lost, p)
		}
	}
	if count < 2 || summary == "" {
		return
	}
	t.Words.Lost += len(lost)
	for _, n := range []int{400, 600} {
		quotes := past.Words(survival.All, n, t.count, past.Prompts[0].At)
		for _, p := range lost {
			if slices.ContainsFunc(quotes, func(q session.Quote) bool { return q.Text == survival.Quoted(p.Text) }) {
				if n == 400 {
					t.Words.Back400++
				} else {
					t.Words.Back600++
				}
			}
		}
		if n == 400 {
			for _, q := range quotes {
				t.Words.Tokens400 += t.count(q.Line()) + 1
			}
		}
	}
}

// budgets counts what paths and commands, ranked together, give back.
func (t *tables) budgets(to *[]budget, past survival.Past, after future) {
	if *to == nil {
		for _, n := range budgets {
			*to = append(*to, budget{Tokens: n})
		}
	}
	summary := past.Summary()
	needed := 0
	for _, p := range past.Paths {
		if at, ok := after.paths[p.Path]; ok && at <= 20 && !namesPath(summary, p.Path) {
			needed++
		}
	}
	for _, c := range past.Commands {
		if at, ok := after.commands[c.Text]; ok && at <= 20 && !strings.Contains(summary, c.Text) {
			needed++
		}
	}
	for i := range *to {
		b := &(*to)[i]
		b.Needed += needed
		for _, f := range past.Together(float64(b.Tokens)) {
			b.Given++
			if hit(f, after) {
				b.Recovered++
			}
		}
		for _, f := range past.Recent(float64(b.Tokens)) {
			b.RecentSeen++
			if hit(f, after) {
				b.RecentRecovered++
			}
		}
	}
}

func hit(f survival.Fact, after future) bool {
	m := after.commands
	if f.Path {
		m = after.paths
	}
	at, ok := m[f.Text]
	return ok && at <= 20
}

// rereads counts the reads in the next 20 responses of files that were read before the compaction.
func (t *tables) rereads(before, after []session.Entry) {
	known := map[string]bool{}
	for _, e := range before {
		for _, p := range e.Content {
			if p.Class == session.ToolCall && tools[p.Tool].Reads() && p.Path != "" {
				known[p.Path] = true
			}
		}
	}
	t.Rereads.Compactions++
	n, last := 0, ""
	calls := map[string]bool{}
	for _, e := range after {
		if isCompaction(e) {
			break
		}
		if e.Report != nil && e.Report.MessageID != last {
			if n, last = n+1, e.Report.MessageID; n > 20 {
				break
			}
		}
		for _, p := range e.Content {
			switch {
			case p.Class == session.ToolCall && tools[p.Tool].Reads() && p.Path != "":
				t.Rereads.Reads++
				if known[p.Path] {
					t.Rereads.Again++
					calls[p.CallID] = true
				}
			case p.Class == session.ToolResult:
				t.Rereads.Results += len(p.Text)
				if calls[p.CallID] {
					t.Rereads.Characters += len(p.Text)
				}
			}
		}
	}
}

func sortedKeys(m map[string]*class) []string {
	order := []string{"path, all", "– edited", "– read only", "– mentioned", "command", "– of the project's own"}
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(slices.Index(order, a), slices.Index(order, b)) })
	return keys
}
