package mcp

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// toldItems is how many items the text of a plan names.
const toldItems = 10

var planTool = tool{
	name:  "plan",
	title: "What can go of a context",
	description: "Lists what a session's context no longer needs: results that stand again later or are out of date, inputs of failed calls, old images and " +
		"results that nothing has named since. It says what each frees, what a cut would cost at the provider's prompt cache, and whether it pays. Use it when " +
		"asked what fills a context for nothing, or before a decision to compact. It changes nothing. Figures are estimates, scaled to the provider's own count.",
	input: `{
  "type": "object",
  "properties": {
    "sessionId": {"type": "string", "description": "The session, as inspect_state names it. Without one, the caller's own."},
    "targetTokens": {"type": "integer", "minimum": 1, "description": "Take no more items than are needed to get down to so many tokens. Without it, all are listed."}
  },
  "additionalProperties": false
}`,
	call: func(ctx context.Context, s *Server, r *sdk.CallToolRequest) (string, any, error) {
		var req core.SessionPlanRequest
		if err := decode(r.Params.Arguments, planArguments(&req)); err != nil {
			return "", nil, err
		}
		if req.Key.SessionID == "" {
			folders, err := s.folders(ctx, r)
			if err != nil {
				return "", nil, err
			}
			in, err := s.options.Service.Inspect(ctx, core.Caller{Folders: folders, HostPID: s.options.HostPID, Limit: 1})
			if err != nil {
				return "", nil, err
			}
			if in.Session == nil {
				return "", nil, coded.Errorf(coded.NotFound, "this session is not known to ctxls; give sessionId")
			}
			req.Key = session.Key{Host: in.Session.Host, SessionID: in.Session.SessionID}
		}
		report, err := s.options.Service.SessionPlan(ctx, req)
		if err != nil {
			return "", nil, err
		}
		clean(&report)
		return planText(report), report, nil
	},
}

func planArguments(req *core.SessionPlanRequest) map[string]argument {
	return map[string]argument{"sessionId": {&req.Key.SessionID, "a string"}, "targetTokens": {&req.TargetTokens, "a whole number above 0"}}
}

// planText says in words what matters of a plan that is clean.
func planText(r plan.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "About %s of %s tokens can go, in %d items.\n", text.Thousands(r.FreeableTokens), text.Thousands(r.Tokens), len(r.Items))
	for i, it := range r.Items {
		if i == toldItems {
			fmt.Fprintf(&b, "  and %d more\n", len(r.Items)-toldItems)
			break
		}
		fmt.Fprintf(&b, "  %s: %s of about %s tokens: %s\n", it.Kind, strings.TrimSpace(it.Where.Tool+" "+it.Where.Path), text.Thousands(it.Tokens), it.Why)
	}
	return b.String() + r.Advice
}
