package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/recall"
)

// recallTable measures whether a search finds what is needed again: the query is what the assistant says before the call that needs it, and a hit
// is a line among the first five that holds it.
type recallTable struct {
	Queries, Found         int
	WithoutFact, FoundThen int // queries that do not hold a word of what they look for
	Builds                 int
	BuildTime, WorstBuild  time.Duration
	QueryTimes             []time.Duration
}

// history is entries as a record.
type history []session.Entry

func (r history) History(_ context.Context, _ core.Record, _ bool, visit func(session.Entry) bool) error {
	for i, e := range slices.Backward(r) {
		e.Offset = int64(i)
		if !visit(e) {
			break
		}
	}
	return nil
}

var word = regexp.MustCompile(`[\pL\pN]{3,}`)

// compaction asks for every path and command that is used in the next 50 responses and was known before.
func (t *recallTable) compaction(before, after []session.Entry, past survival.Past, tools map[string]session.ToolClass) {
	known := map[string]bool{}
	for _, p := range past.Paths {
		known[p.Path] = true
	}
	for _, c := range past.Commands {
		known[c.Text] = true
	}
	dir, err := os.MkdirTemp("", "survive")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	index := recall.New(dir)
	search := func(query string) ([]core.RecallLine, time.Duration) {
		start := time.Now()
		lines, _, _, err := index.Search(context.Background(), core.Record{Key: session.Key{SessionID: "s"}}, history(before), tools, query, 5)
		if err != nil {
			fmt.Fprintln(os.Stderr, "survive:", err)
		}
		return lines, time.Since(start)
	}
	_, took := search("warm up")
	t.Builds++
	t.BuildTime += took
	t.WorstBuild = max(t.WorstBuild, took)
	n, last, intent := 0, "", ""
	asked := map[string]bool{}
	for _, e := range after {
		if isCompaction(e) {
			break
		}
		if e.Report != nil && e.Report.MessageID != last {
			if n, last, intent = n+1, e.Report.MessageID, ""; n > 50 {
				break
			}
		}
		for _, p := range e.Content {
			switch p.Class {
			case session.AnswerText:
				intent = p.Text
			case session.ToolCall:
				for _, fact := range facts(p, e.Paths, tools) {
					if !known[fact] || asked[fact] || strings.TrimSpace(intent) == "" {
						continue
					}
					asked[fact] = true
					t.ask(search, intent, fact)
				}
			}
		}
	}
}

// facts returns the commands of a call, or the files of its entry.
func facts(p session.Piece, paths []session.PathUse, tools map[string]session.ToolClass) (out []string) {
	if tools[p.Tool] == session.ShellTool {
		return survival.SplitCommand(survival.CommandOf(p.Text))
	}
	for _, use := range paths {
		if use.CallID == p.CallID {
			out = append(out, use.Path)
		}
	}
	return out
}

func (t *recallTable) ask(search func(string) ([]core.RecallLine, time.Duration), intent, fact string) {
	literal := fact
	if !strings.Contains(fact, " ") { // a file is known by its name
		literal = path.Base(fact)
	}
	hit := func(query string) bool {
		lines, took := search(query)
		t.QueryTimes = append(t.QueryTimes, took)
		return slices.ContainsFunc(lines, func(l core.RecallLine) bool { return strings.Contains(l.Text, literal) })
	}
	t.Queries++
	if hit(intent) {
		t.Found++
	}
	without := intent
	for _, w := range word.FindAllString(fact, -1) {
		without = regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(w)+`\w*`).ReplaceAllString(without, " ")
	}
	if word.MatchString(without) {
		t.WithoutFact++
		if hit(without) {
			t.FoundThen++
		}
	}
}

func (t *recallTable) print(w io.Writer) {
	if t.Queries == 0 {
		return
	}
	slices.Sort(t.QueryTimes)
	at := func(p int) time.Duration {
		return t.QueryTimes[min(len(t.QueryTimes)-1, len(t.QueryTimes)*p/100)].Round(10 * time.Microsecond)
	}
	fmt.Fprintln(w, "\nRECALL AMONG THE FIRST 5\tQUERIES\tFOUND")
	fmt.Fprintf(w, "by what the assistant says\t%d\t%s\n", t.Queries, percent(t.Found, t.Queries))
	fmt.Fprintf(w, "without the fact's own words\t%d\t%s\n", t.WithoutFact, percent(t.FoundThen, t.WithoutFact))
	fmt.Fprintf(w, "building an index\t%d\t%v on average, %v at most\n", t.Builds, (t.BuildTime / time.Duration(t.Builds)).Round(time.Millisecond), t.WorstBuild.Round(time.Millisecond))
	fmt.Fprintf(w, "a query\t%d\t%v in the middle, %v for 99 of 100\n", len(t.QueryTimes), at(50), at(99))
}
