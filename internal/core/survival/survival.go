// Package survival decides what an agent is given back after a compaction: short prompts of the user that the summary lacks, and
// commands that were run. It works on the entries of the host's own record, newest first, and stores nothing.
//
// The constants were tuned on 78 compactions of real sessions; internal/tools/survive measures them on any directory of records.
package survival

import (
	"math"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Budgets, in tokens as Cost estimates them.
const (
	WordTokens = 400
	// CommandTokens is for commands beside the paths that a visible summary lost; HiddenCommandTokens is for commands after a summary that ctxls cannot see.
	CommandTokens       = 250
	HiddenCommandTokens = 500
)

// Bounds of what is given back, in characters.
const (
	maxPrompt  = 600 // a longer prompt is no instruction that can be quoted
	maxQuote   = 200
	maxCommand = 160 // commands beyond it count a quarter, and are cut here
)

// Prompt is a short prompt of the user.
type Prompt struct {
	Text   string // as typed
	At     time.Time
	Window int // 0 is the window that the compaction ended, 1 the one before
}

// Command is a command that was run, as one text of a shell.
type Command struct {
	Text    string
	Times   int
	Ago     int // responses since it was run last
	At      time.Time
	Failed  bool // its last run failed
	Failing bool // no run of it succeeded
}

// Path is a file that was used.
type Path struct {
	Path  string
	Use   session.Use // the heaviest
	Edits int
	Ago   int // responses since it was used last
}

// Past is what a record tells of a session up to a compaction.
type Past struct {
	Prompts  []Prompt  // newest first
	Commands []Command // the last run first
	Paths    []Path    // the last used first
	// Summaries are the texts that compactions left, the newest first. The first is of the compaction in question where Seen.
	Summaries []string
	Seen      bool // the record holds the compaction itself
	Responses int
}

// Collector makes a Past of entries that come newest first.
type Collector struct {
	// Until leaves out what came after it, as far as entries are dated; the zero time leaves out nothing.
	Until time.Time
	// Tools are the host's names of tools, see session.Rules.
	Tools map[string]session.ToolClass

	past     Past
	window   int
	begun    bool // something of the ended window was seen
	pending  string
	response string
	failed   map[string]bool
	commands map[string]int
	paths    map[string]int
	prompts  map[string]bool
}

// Add takes the next older entry.
func (c *Collector) Add(e session.Entry) {
	if c.failed == nil {
		c.failed, c.commands, c.paths, c.prompts = map[string]bool{}, map[string]int{}, map[string]int{}, map[string]bool{}
	}
	if b := e.Boundary; b != nil && !b.Micro {
		c.boundary(*b)
		return
	}
	if !c.Until.IsZero() && e.At.After(c.Until) {
		return
	}
	for _, r := range e.Results {
		if r.Failed {
			c.failed[r.CallID] = true
		}
	}
	for i := len(e.Content) - 1; i >= 0; i-- {
		c.piece(e.Content[i], e.At)
	}
	for _, use := range e.Paths {
		c.path(use)
	}
	if rep := e.Report; rep != nil && (rep.MessageID == "" || rep.MessageID != c.response) {
		c.response = rep.MessageID
		c.past.Responses++
		c.begun = true
	}
}

// boundary takes a compaction. A summary may come as an entry of its own, before its boundary.
func (c *Collector) boundary(b session.Boundary) {
	if b.ID == "" && b.Summary != "" && b.PreTokens == 0 {
		c.pending = b.Summary
		return
	}
	summary := b.Summary
	if summary == "" {
		summary = c.pending
	}
	c.pending = ""
	c.past.Summaries = append(c.past.Summaries, summary)
	if !c.begun && len(c.past.Summaries) == 1 { // nothing was answered since: it is the compaction in question
		c.past.Seen = true
		return
	}
	c.window++
}

func (c *Collector) piece(p session.Piece, at time.Time) {
	switch p.Class {
	case session.ToolCall:
		c.begun = true
		if c.Tools[p.Tool] != session.ShellTool {
			return
		}
		for _, text := range SplitCommand(CommandOf(p.Text)) {
			i, known := c.commands[text]
			if !known {
				i = len(c.past.Commands)
				c.commands[text] = i
				c.past.Commands = append(c.past.Commands, Command{Text: text, Ago: c.past.Responses, At: at, Failed: c.failed[p.CallID], Failing: true})
			}
			cmd := &c.past.Commands[i]
			cmd.Times++
			cmd.Failing = cmd.Failing && c.failed[p.CallID]
		}
	case session.PromptText:
		c.begun = true
		if text := strings.TrimSpace(p.Text); quotable(text) && !c.prompts[text] {
			c.prompts[text] = true
			c.past.Prompts = append(c.past.Prompts, Prompt{Text: text, At: at, Window: c.window})
		}
	}
}

func (c *Collector) path(use session.PathUse) {
	if c.failed[use.CallID] && use.CallID != "" {
		return
	}
	i, known := c.paths[use.Path]
	if !known {
		i = len(c.past.Paths)
		c.paths[use.Path] = i
		c.past.Paths = append(c.past.Paths, Path{Path: use.Path, Ago: c.past.Responses})
	}
	p := &c.past.Paths[i]
	p.Use = max(p.Use, use.Use)
	if use.Use == session.Edited {
		p.Edits++
	}
}

// Past returns what was collected.
func (c *Collector) Past() Past { return c.past }

// Summary returns what the compaction in question left, "" where it is not known.
func (p Past) Summary() string {
	if p.Seen && len(p.Summaries) > 0 {
		return p.Summaries[0]
	}
	return ""
}

// Cost estimates the tokens of a line of so many characters.
func Cost(chars int) float64 { return float64(chars)/3.5 + 1.5 }

// score is the chance that a command is run again soon, as far as its use so far tells.
func (c Command) score() float64 {
	s := (.5 + .5*math.Exp(-float64(c.Ago)/20)) * math.Min(.5, .08*math.Pow(float64(c.Times), .8))
	if discounted(c.Text) {
		s *= .25
	}
	return s
}

// Score is the chance that a file is used again soon.
func (p Path) Score() float64 {
	base := map[session.Use]float64{session.Edited: .30, session.Read: .18, session.Mentioned: .06}[p.Use]
	return math.Exp(-float64(p.Ago)/40) * base * (1 + .3*math.Log(1+float64(p.Edits)))
}
