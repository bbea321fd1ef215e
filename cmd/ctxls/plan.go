package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/ui"
)

var planCommand = command{
	name: "plan", synopsis: "[SESSION|FILE|-] [flags]", short: "show what can go of a context, what it frees, and what it costs",
	long: `
Lists what a conversation no longer needs: results that stand again later or are out of date, inputs of failed calls, images
that were answered long ago, old results that nothing named since. It says what a cut would free, what of the provider's cache
would have to be written again, and after how many turns that pays. It changes nothing.

SESSION is an id, or the beginning of one; the default is the session of the current directory that was active last. FILE is a
host's record of a session, an array of messages, or the body of a request; - is standard input. With --target, only as many
items are listed as are needed to get there, the least loss first.

With the setting prune.enabled, OpenCode leaves such items out of its requests. --undo ends that for a session.`,
	examples: "ctxls plan\nctxls plan c203db13 --json | jq .advice\nctxls plan --target 100000 request.json",
	reads:    true,
	offers: func(ctx context.Context, a *app, o *completion.Offer, given []string) {
		if len(given) == 0 {
			a.offerSessions(ctx, o, nil)
			o.Paths = "files"
		}
	},
	setup: func(fs *pflag.FlagSet) action {
		var p planning
		p.modelFlags.add(fs)
		host := hostVar(fs, "the session's `host`, if two hosts have a session of that id")
		p.target = tokensVar(fs, "target", "the `tokens` to get down to (default: list everything)")
		fs.IntVar(&p.keepLast, "keep-last", 4, "leave the newest `n` responses alone, with what answers them")
		p.window = tokensVar(fs, "window", "size of the model's window in `tokens`, for a FILE of messages")
		p.compactsAt = tokensVar(fs, "compacts-at", "`tokens` at which the conversation is compacted, for a FILE of messages")
		undo := fs.Bool("undo", false, "have OpenCode send all of a SESSION again, from its next request on")
		asJSON := fs.Bool("json", false, "print JSON, as context/plan does")
		var styled styleFlags
		styled.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 1 {
				return usageError{"plan takes one session or file"}
			}
			style, err := styled.style(a)
			if err != nil {
				return err
			}
			p.given = fs.Changed
			if *undo {
				return unprune(ctx, a, *host, args)
			}
			report, err := p.make(ctx, a, *host, args)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(a.stdout, report)
			}
			return ui.Plan(a.stdout, report, style)
		}
	},
}

// unprune undoes what prune.enabled did to a session.
func unprune(ctx context.Context, a *app, host session.Host, args []string) error {
	s, err := a.service(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return usageError{"plan --undo takes a session"}
	}
	key, err := a.chooseSession(ctx, s, host, args)
	if err != nil {
		return err
	}
	parts, err := s.Unprune(ctx, key)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s back from the next request on; nothing more is left out of this session\n", ui.Count(parts, "part"))
	return err
}

// planning are the flags of plan.
type planning struct {
	modelFlags
	target, window, compactsAt *int
	keepLast                   int
	given                      func(flag string) bool
}

// optional returns the value of a flag that was given.
func (p *planning) optional(flag string, value *int) *int {
	if !p.given(flag) {
		return nil
	}
	return value
}

// make makes the plan of a file of messages, of a host's record, or of a session.
func (p *planning) make(ctx context.Context, a *app, host session.Host, args []string) (plan.Report, error) {
	s, err := a.service(ctx)
	if err != nil {
		return plan.Report{}, err
	}
	seen := a.discover(s, false)
	if len(args) == 1 {
		if key, ok := seen.Name(args[0]); ok {
			args[0], host = key.SessionID, key.Host
		} else if _, err := os.Stat(args[0]); err == nil || args[0] == "-" {
			progress := a.startProgress()
			defer progress.stop()
			return untilInterrupted(ctx, func() (plan.Report, error) { return p.ofFile(a, progress, args[0]) })
		}
	}
	key, err := a.chooseSession(ctx, s, host, args)
	if err != nil {
		return plan.Report{}, err
	}
	progress := a.startProgress()
	defer progress.stop()
	report, err := s.SessionPlan(ctx, core.SessionPlanRequest{
		Key: key, TargetTokens: p.optional("target", p.target), KeepLast: p.optional("keep-last", &p.keepLast), Progress: progress.at,
	})
	return report, planFlags(err)
}

// ofFile makes the plan of a file of messages.
func (p *planning) ofFile(a *app, progress *progress, name string) (plan.Report, error) {
	progress.expect(name)
	data, err := a.readInput(name)
	if err != nil {
		return plan.Report{}, err
	}
	doc, err := readDocument(data)
	if err != nil {
		return plan.Report{}, inFile(name, err)
	}
	progress.found(name, len(data))
	req := conversation.PlanRequest{
		Conversation: p.apply(doc.Conversation), TargetTokens: p.optional("target", p.target), KeepLast: &p.keepLast,
		WindowTokens: p.optional("window", p.window), CompactionTokens: p.optional("compacts-at", p.compactsAt), Now: time.Now(),
	}
	meter := newMeter(progress.counted)
	empty := req
	empty.Conversation = p.apply(conversation.Conversation{Messages: []byte("[]")})
	if _, err := meter.Plan(empty); err != nil {
		return plan.Report{}, wrongFlags(err)
	}
	report, err := meter.Plan(req)
	return report, inFile(name, err)
}

// planFlags turns a refusal of a flag's value into one of the command line.
func planFlags(err error) error {
	if e, ok := errors.AsType[*coded.Error](err); ok && flagOf[e.Field] != "" {
		return wrongFlags(err)
	}
	return err
}
