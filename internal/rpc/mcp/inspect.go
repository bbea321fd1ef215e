package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/text"
)

// The default and the maximum number of returned sessions. A session takes about 500 tokens, and a tool that reports on a window should
// not fill it.
const (
	defaultSessions = 5
	maxSessions     = 100
)

var inspectTool = tool{
	name:  "inspect_state",
	title: "How full the context window is",
	description: "Tells how full this session's context window is: the tokens in it, the size of the window, and how many tokens and turns are left until " +
		"the host compacts the conversation; also which files it works on, the other agent sessions on this machine, and figures over the recent " +
		"tasks of all of them. Use it before a large task, to decide whether to compact or clear, or when asked how much context is left. " +
		"`session` is the caller's own, null where it is not known. Each figure says where it comes from (`provenance`): host, transcript and " +
		"reported are the provider's own count, as of the last response; estimate is a guess; null is unknown.",
	input: `{
  "type": "object",
  "properties": {
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 5, "description": "The most sessions to return in sessions, the most recently updated first."}
  },
  "additionalProperties": false
}`,
	call: func(ctx context.Context, s *Server, r *sdk.CallToolRequest) (string, any, error) {
		limit := defaultSessions
		if err := decode(r.Params.Arguments, inspectArguments(&limit)); err != nil {
			return "", nil, err
		}
		if limit < 1 || limit > maxSessions {
			return "", nil, coded.Field("limit", "expected a whole number from 1 to %d, got %d", maxSessions, limit)
		}
		folders, err := s.folders(ctx, r)
		if err != nil {
			return "", nil, err
		}
		in, err := s.options.Service.Inspect(ctx, core.Caller{Folders: folders, HostPID: s.options.HostPID, Limit: limit})
		if err != nil {
			return "", nil, err
		}
		clean(&in)
		return inspectText(in, folders), in, nil
	},
}

func inspectArguments(limit *int) map[string]argument {
	return map[string]argument{"limit": {limit, fmt.Sprintf("a whole number from 1 to %d", maxSessions)}}
}

// inspectText describes the main facts of a sanitized inspection in words.
func inspectText(in core.Inspection, folders []string) string {
	var b strings.Builder
	if in.Session == nil {
		b.WriteString("This session is not known to ctxls.")
		if len(folders) > 0 {
			fmt.Fprintf(&b, " No session works in %s.", text.Sanitize(strings.Join(folders, " or "), maxText))
		}
		b.WriteString(" Sessions become known by the hooks of their host; ctxls help install tells how to add them.\n")
	} else {
		fmt.Fprintf(&b, "This session: %s\n", headline(*in.Session))
		describeUsage(&b, in.Session.Usage)
		describeWork(&b, *in.Session)
	}
	others := 0
	for _, s := range in.Sessions {
		if in.Session != nil && s.Host == in.Session.Host && s.SessionID == in.Session.SessionID {
			continue
		}
		if others++; others == 1 {
			b.WriteString("\nOther sessions on this machine:\n")
		}
		fmt.Fprintf(&b, "  %s: %s\n", headline(s), occupancy(s.Usage))
	}
	if in.OmittedSessions > 0 {
		fmt.Fprintf(&b, "  and %d more; limit returns more of them\n", in.OmittedSessions)
	}
	b.WriteString("\n" + fleetText(in.Report))
	for _, w := range in.Windows {
		fmt.Fprintf(&b, "\nLearned: window of %s under %s (%s): %s.", orUnknown(w.Model), w.Host, w.Provider, w.Why)
	}
	return b.String()
}

func headline(s core.SessionView) string {
	return fmt.Sprintf("%s %s, model %s, %s, in %s", s.Host, s.SessionID, orUnknown(s.Model), s.State, orUnknown(s.CWD))
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// occupancy describes how full a window is, and the source of that figure.
func occupancy(u core.Usage) string {
	if u.Tokens == nil {
		return fmt.Sprintf("unknown, of a window of %s tokens (%s)", text.Thousands(u.WindowTokens), u.WindowWhy)
	}
	about, source := "", "as reported ("+string(*u.Provenance)+")"
	if !u.Exact {
		about, source = "about ", "an estimate"
	}
	text := fmt.Sprintf("%s%s of %s tokens (%d%%), %s, as of %s", about, text.Thousands(*u.Tokens), text.Thousands(u.WindowTokens), text.Percent(*u.Tokens, u.WindowTokens),
		source, u.AsOf.UTC().Format(time.RFC3339))
	if u.Stale {
		text += ", a response behind"
	}
	return text
}

func describeUsage(b *strings.Builder, u core.Usage) {
	fmt.Fprintf(b, "  in the window: %s\n", occupancy(u))
	if u.Tokens == nil {
		return
	}
	fmt.Fprintf(b, "  size of the window: %s\n", u.WindowWhy)
	if u.Exact && u.Band != nil && *u.ProjectedTokens != *u.Tokens {
		fmt.Fprintf(b, "  with what came since: about %s, from %s to %s (an estimate)\n", text.Thousands(*u.ProjectedTokens), text.Thousands(u.Band.Low), text.Thousands(u.Band.High))
	}
	switch {
	case u.ToCompaction != nil:
		fmt.Fprintf(b, "  until the host compacts: %s tokens (at %s)", text.Thousands(*u.ToCompaction), text.Thousands(*u.CompactionTokens))
	case u.ToRefusal == nil:
		return
	case u.CompactionRule == model.CompactsOnRefusal:
		fmt.Fprintf(b, "  until the window is full: %s tokens; the host compacts when a request is refused", text.Thousands(*u.ToRefusal))
	case u.CompactionRule == model.CompactsNever:
		fmt.Fprintf(b, "  until the host refuses a prompt: %s tokens (at %s); compaction is turned off", text.Thousands(*u.ToRefusal), text.Thousands(*u.RefusalTokens))
	default:
		fmt.Fprintf(b, "  until the window is full: %s tokens", text.Thousands(*u.ToRefusal))
	}
	if u.TurnsLeft != nil {
		fmt.Fprintf(b, ", %d to %d turns as they were lately", u.TurnsLeft.Low, u.TurnsLeft.High)
	}
	b.WriteString("\n")
}

func describeWork(b *strings.Builder, s core.SessionView) {
	if s.Compactions > 0 || s.Compacting {
		now := ""
		if s.Compacting {
			now = ", and compacting now"
		}
		fmt.Fprintf(b, "  compacted so far: %d times%s\n", s.Compactions, now)
	}
	for _, a := range s.Agents {
		fmt.Fprintf(b, "  sub-agent %s %s: %s\n", orUnknown(a.AgentType), a.AgentID, occupancy(a.Usage))
	}
	if len(s.WorkingSet) > 0 {
		fmt.Fprintf(b, "  files in use, the latest first: %s\n", strings.Join(s.WorkingSet, ", "))
	}
}

func fleetText(r fleet.ContextOptimizationReport) string {
	if r.Tasks == 0 {
		return "No task is recorded yet."
	}
	return fmt.Sprintf("Last %d tasks of all sessions: %.1f%% above %s tokens; %s on average, half at most %s, 90%% at most %s, the largest %s; %d trims saved %s.",
		r.Tasks, 100*r.P90ExceedanceRate, text.Thousands(r.ThresholdTokens), text.Thousands(r.AverageTokens), text.Thousands(r.P50Tokens), text.Thousands(r.P90Tokens),
		text.Thousands(r.MaxTokens), r.TrimOperations, text.Thousands(r.TrimmedTokens))
}
