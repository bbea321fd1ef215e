package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// moment is what happened at one hook.
type moment struct {
	event event
	lines [][]byte // what the transcript grew by before it
	told  string   // what reached the agent
	shown string   // the status line
	seen  core.SessionView
}

// checker works out from the recording alone what ctxls must say and show, and notes where it did not. It knows the host's
// arithmetic and nothing of how ctxls works.
type checker struct {
	failures []string

	window      int            // as the status line stated it
	known       map[tuple]bool // responses met so far: each is news only once
	tokens      int            // of the newest response since the last compaction; 0 is unknown
	compactions int
	prompts     int
	marks       int
	reminders   int
	ended       bool
}

// The figures that a person who configured nothing gets.
const (
	reminderPercent = 70
	maxPaths        = 20
)

// see takes one hook in.
func (r *checker) see(m moment) {
	p := m.event.read()
	for _, line := range m.lines {
		r.line(line)
	}
	if w := p.ContextWindow; w.Size > 0 {
		r.window = w.Size
		if w.Usage != nil && w.Usage.tokens() > 0 {
			r.response(*w.Usage)
		}
	}
	switch m.event.Name {
	case statusLine:
		if percent := fmt.Sprintf(" %d%% ", text.Percent(r.tokens, r.window)); r.tokens > 0 && !strings.Contains(m.shown, percent) {
			r.fail("the status line does not say%s: %q", percent, m.shown)
		}
	case "UserPromptSubmit":
		r.prompts++
		r.mark(m.told)
	case "PostToolBatch":
		r.reminder(m.told)
	case "PreCompact":
		r.preCompact(m.told)
	case "SessionStart", "PostCompact":
		if p.Source == "compact" || m.event.Name == "PostCompact" {
			r.tokens = 0
		}
	case "SessionEnd":
		r.ended = true
	}
	r.gauge(m)
}

// line takes in a line of the transcript.
func (r *checker) line(line []byte) {
	var l struct {
		Type      string `json:"type"`
		Subtype   string `json:"subtype"`
		Sidechain bool   `json:"isSidechain"`
		Message   struct {
			Usage tuple `json:"usage"`
		} `json:"message"`
	}
	if json.Unmarshal(bytes.TrimSpace(line), &l) != nil || l.Sidechain {
		return
	}
	switch {
	case l.Subtype == "compact_boundary":
		r.compactions++
	case l.Type == "assistant" && l.Message.Usage.tokens() > 0:
		r.response(l.Message.Usage)
	}
}

// response takes in a response, which the status line and the transcript tell of in any order.
func (r *checker) response(u tuple) {
	if r.known == nil {
		r.known = map[tuple]bool{}
	}
	if !r.known[u] {
		r.known[u], r.tokens = true, u.tokens()
	}
}

var markPattern = regexp.MustCompile(`\[context used: [^\]]*\]`)

func (r *checker) mark(told string) {
	var want []string
	if r.tokens > 0 {
		want = []string{fmt.Sprintf("[context used: %d%%]", text.Percent(r.tokens, r.window))}
	}
	got := markPattern.FindAllString(told, -1)
	r.marks += len(got)
	if !slices.Equal(got, want) {
		r.fail("prompt %d was marked %q, want %q: %s of %s tokens", r.prompts, got, want, text.Thousands(r.tokens), text.Thousands(r.window))
	}
}

func (r *checker) reminder(told string) {
	due := r.reminders == 0 && r.tokens > 0 && r.tokens*100 >= reminderPercent*r.window
	n := strings.Count(told, "[Context Status:")
	r.reminders += n
	figures := fmt.Sprintf("(%s/%s tokens)", text.Thousands(r.tokens), text.Thousands(r.window))
	switch {
	case due && n == 0:
		r.fail("no reminder at %s of %s tokens", text.Thousands(r.tokens), text.Thousands(r.window))
	case due && !strings.Contains(told, figures):
		r.fail("the reminder does not say %s", figures)
	case !due && n > 0, n > 1:
		r.fail("reminder %d out of turn, at %s of %s tokens", r.reminders, text.Thousands(r.tokens), text.Thousands(r.window))
	}
}

// preCompact checks that the host is handed nothing for its summary: it would discard one that it has written ahead.
func (r *checker) preCompact(told string) {
	if told != "" {
		r.fail("PreCompact was answered with %q, want nothing", told)
	}
}

// gauge holds what a client sees against what the host reported.
func (r *checker) gauge(m moment) {
	u := m.seen.Usage
	reported := u.Tokens != nil && *u.Provenance != session.ProvenanceEstimate
	switch {
	case r.tokens == 0 && reported:
		r.fail("after %s clients see %s tokens, and the host reported none since the compaction or the start", m.event.Name, text.Thousands(*u.Tokens))
	case r.tokens > 0 && !acts[m.event.Name]: // a hook that ctxls has no use for may leave the gauge as it is
	case r.tokens > 0 && (!reported || *u.Tokens != r.tokens || u.WindowTokens != r.window):
		r.fail("after %s clients see %s of %s tokens, want %s of %s", m.event.Name, shown(u.Tokens), text.Thousands(u.WindowTokens), text.Thousands(r.tokens), text.Thousands(r.window))
	}
}

// acts are the events after which the gauge is up to date with all that could be known.
var acts = map[string]bool{
	statusLine: true, "UserPromptSubmit": true, "PostToolBatch": true, "Stop": true, "PreCompact": true, "SessionEnd": true,
}

// end takes in what stands after the last hook, and returns all that was wrong.
func (r *checker) end(last core.SessionView, report fleet.ContextOptimizationReport, listed int) []string {
	if last.Compactions != r.compactions {
		r.fail("clients see %d compactions, the transcript has %d", last.Compactions, r.compactions)
	}
	if r.ended != (last.State == core.StateEnded) {
		r.fail("the session is %s at the end", last.State)
	}
	if len(last.WorkingSet) > maxPaths {
		r.fail("clients see %d paths, want at most %d", len(last.WorkingSet), maxPaths)
	}
	if report.Tasks != r.prompts {
		r.fail("the report covers %d tasks, there were %d prompts", report.Tasks, r.prompts)
	}
	if listed != 1 {
		r.fail("%d sessions are listed, want 1", listed)
	}
	return r.failures
}

func (r *checker) fail(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
