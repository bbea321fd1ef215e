package survival

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Entry is what the record tells of one compaction: what its summary named, what ctxls gives back of the rest, and what the agent
// needed in the responses that followed.
type Entry struct {
	At        *time.Time `json:"at"`        // null where the record does not say
	Automatic bool       `json:"automatic"` // the host did it by itself
	MidTurn   bool       `json:"midTurn"`   // a turn was going on
	// PreTokens and PostTokens are the host's own figures of the window before and after; null is unknown.
	PreTokens  *int `json:"preTokens"`
	PostTokens *int `json:"postTokens"`

	Paths    Class `json:"paths"`    // files in use
	Commands Class `json:"commands"` // commands that were run
	Words    Class `json:"words"`    // short prompts of the user; whether they were used is unknown

	Rereads Rereads `json:"rereads"`
}

// Class counts the facts of one kind.
type Class struct {
	Known int `json:"known"` // before the compaction
	Named int `json:"named"` // by its summary
	// Given are those that the rules give back. Used are those of them that the agent used in the next 20 responses; null is unknown.
	Given int  `json:"given"`
	Used  *int `json:"used"`
}

// Rereads are reads of files in the next 20 responses.
type Rereads struct {
	Reads  int `json:"reads"`
	Again  int `json:"again"`  // of files that were read before the compaction
	Tokens int `json:"tokens"` // of the results of those, as 3.5 characters each
}

// Horizon is how many responses after a compaction are looked at.
const Horizon = 20

// Ledger returns an entry for each compaction of a record, whose entries come oldest first. The words and commands that are given back are
// computed again, by the rules and the given budgets.
func Ledger(entries []session.Entry, tools map[string]session.ToolClass, maxPaths, wordTokens, commandTokens int, count func(string) int) []Entry {
	var ledger []Entry
	for i, e := range entries {
		if !isCompaction(e) {
			continue
		}
		end := summaryAfter(entries, i)
		c := Collector{Tools: tools}
		for _, e := range slices.Backward(entries[:end+1]) {
			c.Add(e)
		}
		l := entryOf(*e.Boundary, e.At, c.Past(), entries[end+1:], tools, maxPaths, wordTokens, commandTokens, count)
		l.MidTurn = midTurn(entries[:i])
		l.Rereads = rereads(entries[:i], entries[end+1:], tools)
		ledger = append(ledger, l)
	}
	return ledger
}

func isCompaction(e session.Entry) bool {
	return e.Boundary != nil && !e.Boundary.Micro && e.Boundary.ID != ""
}

// summaryAfter returns the index of the entry that holds the summary of the compaction at i: i itself, or one of the next few.
func summaryAfter(entries []session.Entry, i int) int {
	for j := i + 1; j < min(len(entries), i+6) && entries[i].Boundary.Summary == ""; j++ {
		if b := entries[j].Boundary; b != nil && b.Summary != "" {
			return j
		}
	}
	return i
}

func entryOf(b session.Boundary, at time.Time, past Past, after []session.Entry, tools map[string]session.ToolClass, maxPaths, wordTokens, commandTokens int, count func(string) int) Entry {
	l := Entry{Automatic: b.Automatic, PreTokens: known(b.PreTokens), PostTokens: known(b.PostTokens)}
	if !at.IsZero() {
		l.At = &at
	}
	summary := past.Summary()
	paths, commands := used(after, tools)
	count1 := func(c *Class, named bool) bool {
		c.Known++
		if named {
			c.Named++
		}
		return !named
	}
	usedPaths, usedCommands := 0, 0
	for _, p := range past.Paths { // the last used first, as the working context has them
		if count1(&l.Paths, strings.Contains(summary, path.Base(p.Path))) && l.Paths.Known <= maxPaths {
			l.Paths.Given++
			if paths[p.Path] {
				usedPaths++
			}
		}
	}
	for _, c := range past.Commands {
		count1(&l.Commands, strings.Contains(summary, c.Text))
	}
	for _, c := range past.Chosen(float64(commandTokens), at) {
		l.Commands.Given++
		if commands[c.Command] {
			usedCommands++
		}
	}
	plain := Plain(summary)
	for _, p := range past.Prompts {
		count1(&l.Words, Holds(plain, p.Text))
	}
	l.Words.Given = len(past.Words(All, wordTokens, count, at))
	l.Paths.Used, l.Commands.Used = &usedPaths, &usedCommands
	return l
}

func known(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// used returns the files and commands of the calls in the next responses.
func used(after []session.Entry, tools map[string]session.ToolClass) (paths, commands map[string]bool) {
	paths, commands = map[string]bool{}, map[string]bool{}
	within(after, func(e session.Entry) {
		for _, use := range e.Paths {
			paths[use.Path] = true
		}
		for _, p := range e.Content {
			if p.Class == session.ToolCall && tools[p.Tool] == session.ShellTool {
				for _, c := range SplitCommand(CommandOf(p.Text)) {
					commands[Command{Text: c}.Shown()] = true
				}
			}
		}
	})
	return paths, commands
}

// within visits the entries of the next responses, up to the next compaction.
func within(after []session.Entry, visit func(session.Entry)) {
	n, last := 0, ""
	for _, e := range after {
		if isCompaction(e) {
			return
		}
		if e.Report != nil && (e.Report.MessageID == "" || e.Report.MessageID != last) {
			if n, last = n+1, e.Report.MessageID; n > Horizon {
				return
			}
		}
		visit(e)
	}
}

// midTurn reports whether the last of what was said before a compaction is a result of a tool: the agent had not answered yet.
func midTurn(before []session.Entry) bool {
	for _, e := range slices.Backward(before) {
		for _, p := range slices.Backward(e.Content) {
			switch p.Class {
			case session.ToolResult, session.ToolCall:
				return true
			case session.AnswerText, session.PromptText:
				return false
			}
		}
	}
	return false
}

// rereads counts the reads in the next responses of files that were read before.
func rereads(before, after []session.Entry, tools map[string]session.ToolClass) (r Rereads) {
	seen, calls := map[string]bool{}, map[string]bool{}
	for _, e := range before {
		for _, p := range e.Content {
			if p.Class == session.ToolCall && tools[p.Tool].Reads() && p.Path != "" {
				seen[p.Path] = true
			}
		}
	}
	chars := 0
	within(after, func(e session.Entry) {
		for _, p := range e.Content {
			switch {
			case p.Class == session.ToolCall && tools[p.Tool].Reads() && p.Path != "":
				r.Reads++
				if seen[p.Path] {
					r.Again++
					calls[p.CallID] = true
				}
			case p.Class == session.ToolResult && calls[p.CallID]:
				chars += len(p.Text)
			}
		}
	})
	r.Tokens = chars * 2 / 7
	return r
}

// Totals are sums over compactions.
type Totals struct {
	Compactions   int `json:"compactions"`
	RereadTokens  int `json:"rereadTokens"` // of one compaction on average
	PathsGiven    int `json:"pathsGiven"`
	PathsUsed     int `json:"pathsUsed"`
	CommandsGiven int `json:"commandsGiven"`
	CommandsUsed  int `json:"commandsUsed"`
}

// Listing is compactions with their sums.
type Listing struct {
	Compactions []Entry `json:"compactions"` // of a session, oldest first
	Totals      Totals  `json:"totals"`
}

// LedgerOf returns entries with their sums.
func LedgerOf(list []Entry) Listing {
	return Listing{append([]Entry{}, list...), Sum(list)}
}

// A class is judged by the last JudgedCompactions; it must be used for at least WorthPercent of what was given.
const (
	JudgedCompactions = 50
	WorthPercent      = 3
)

// Useless names the classes that agents use too rarely for their tokens. The use of words is unknown, so ctxls keeps giving them back.
type Useless struct{ Paths, Commands bool }

// Useless judges the sums over the last compactions; fewer than JudgedCompactions tell nothing.
func (t Totals) Useless() Useless {
	useless := func(given, used int) bool {
		return t.Compactions >= JudgedCompactions && given > 0 && used*100 < WorthPercent*given
	}
	return Useless{useless(t.PathsGiven, t.PathsUsed), useless(t.CommandsGiven, t.CommandsUsed)}
}

// Sum adds up entries.
func Sum(list []Entry) (t Totals) {
	sum := func(given, used *int, c Class) {
		if c.Used != nil {
			*given += c.Given
			*used += *c.Used
		}
	}
	for _, l := range list {
		t.Compactions++
		t.RereadTokens += l.Rereads.Tokens
		sum(&t.PathsGiven, &t.PathsUsed, l.Paths)
		sum(&t.CommandsGiven, &t.CommandsUsed, l.Commands)
	}
	if t.Compactions > 0 {
		t.RereadTokens /= t.Compactions
	}
	return t
}
