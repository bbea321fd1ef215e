package main

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// line is one line of the log: who did or said something, and what.
type line struct{ who, text string }

// story tells in a line what the host did. Events between those that matter to people are not told of.
func story(e event) (line, bool) {
	p := e.read()
	switch e.Name {
	case "SessionStart":
		if p.Source == "compact" {
			return line{"host", "goes on with a summary in the place of the conversation"}, true
		}
		return line{"host", "starts a session"}, true
	case "UserPromptSubmit":
		return line{"user", text.Sanitize(p.Prompt, 300)}, true
	case "PostToolBatch":
		return line{"tools", tools(p)}, true
	case "Stop":
		return line{"agent", text.Sanitize(p.Answer, 130)}, true
	case "PreCompact":
		return line{"host", fmt.Sprintf("is about to compact the conversation (%s)", text.Sanitize(p.Trigger, 20))}, true
	case "SessionEnd":
		return line{"host", "ends the session"}, true
	}
	return line{}, false
}

// tools names the calls of a batch, those of one tool together: "Read cli.py, store.py; Bash python3 -m unittest".
func tools(p said) string {
	var txt strings.Builder
	var tool, target string
	for _, call := range p.ToolCalls {
		next := cmp.Or(strings.TrimPrefix(call.Input.File, p.CWD+"/"), call.Input.Command)
		switch {
		case tool == "":
			txt.WriteString(call.Name + " " + next)
		case call.Name != tool:
			txt.WriteString("; " + call.Name + " " + next)
		case next != target: // several edits of one file are one to the reader
			txt.WriteString(", " + next)
		}
		tool, target = call.Name, next
	}
	return text.Sanitize(txt.String(), 300)
}

// gauge draws what a client shows of a session.
func gauge(u core.Usage, cells int) string {
	if u.Tokens == nil {
		return fmt.Sprintf("%s   ?   unknown, of %s", strings.Repeat("·", cells), text.Thousands(u.WindowTokens))
	}
	mark := ""
	if *u.Provenance == session.ProvenanceEstimate {
		mark = "~"
	}
	percent := text.Percent(*u.Tokens, u.WindowTokens)
	full := (percent*cells + 50) / 100
	line := fmt.Sprintf("%s%s %4s  %s%s/%s", strings.Repeat("█", full), strings.Repeat("░", cells-full), fmt.Sprintf("%s%d%%", mark, percent),
		mark, text.Thousands(*u.Tokens), text.Thousands(u.WindowTokens))
	if u.ToCompaction != nil {
		if *u.ProjectedTokens != *u.Tokens {
			mark = "~"
		}
		line += fmt.Sprintf("  %s%s to compaction", mark, text.Thousands(*u.ToCompaction))
	}
	return line + "  " + string(*u.Level)
}

// report tells the fleet's figures.
func report(r fleet.ContextOptimizationReport) string {
	return fmt.Sprintf("%s, %.0f%% of them over %s tokens; average %s, p90 %s, largest %s",
		counted(r.Tasks, "task"), r.P90ExceedanceRate*100, text.Thousands(r.ThresholdTokens), text.Thousands(r.AverageTokens), text.Thousands(r.P90Tokens), text.Thousands(r.MaxTokens))
}

// summary tells of a session in a list.
func summary(s core.SessionView) string {
	return fmt.Sprintf("%s in %s: %s of %s tokens, %s, %s, %s", s.Host, path.Base(s.CWD), shown(s.Usage.Tokens), text.Thousands(s.Usage.WindowTokens),
		text.Sanitize(s.Model, 40), counted(s.Compactions, "compaction"), s.State)
}

// shown writes a number of tokens that may be unknown.
func shown(n *int) string {
	if n == nil {
		return "?"
	}
	return text.Thousands(*n)
}

// counted writes a number of things.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
