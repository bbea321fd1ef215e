package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/ui"
)

var trimCommand = command{
	name: "trim", synopsis: "FILE|- [flags]", short: "remove the oldest messages of a conversation until it fits",
	long: `
The file is an array of messages or the body of a request; - is standard input. What is printed is the same document with
fewer messages: everything that stays keeps its bytes. System messages stay, and a tool call goes with its results. A line
on stderr says what was done; where the target cannot be met, as much as may go is gone and the exit status is 1.`,
	examples: `ctxls trim request.json > shorter.json
ctxls trim --target 100000 --strategy toolResults --keep-last 4 chat.json
jq .messages request.json | ctxls trim - --start-on user`,
	setup: func(fs *pflag.FlagSet) action {
		var flags modelFlags
		var req core.TrimRequest
		flags.add(fs)
		target := fs.Int("target", 0, "`tokens` to trim to (default trim.targetTokens of the settings)")
		fs.StringVar(&req.Strategy, "strategy", "oldest", "oldest removes messages; toolResults first clears the oldest tool results")
		fs.IntVar(&req.KeepLast, "keep-last", 0, "protect the newest `n` messages; a call counts as one with its results")
		fs.StringVar(&req.StartOn, "start-on", "", "user: let the first message after the system's be a user's own")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) != 1 {
				return usageError{"trim takes one file, or - for standard input"}
			}
			if !fs.Changed("target") {
				*target = a.settings("").Trim.TargetTokens
			}
			req.TargetTokens = target
			p := a.startProgress()
			t, err := untilInterrupted(ctx, func() (trimmed, error) { return a.trim(p, args[0], flags, req) })
			p.stop()
			if err != nil {
				return err
			}
			if _, err := a.stdout.Write(t.document); err != nil {
				return err
			}
			fmt.Fprintln(a.stderr, "ctxls:", ui.Trimmed(t.TrimResult, t.exact))
			if !t.Satisfied {
				return fmt.Errorf("%d tokens are above the target of %d: nothing more may go", t.Tokens, *target)
			}
			return nil
		}
	},
}

// trimmed is one input after the trim.
type trimmed struct {
	core.TrimResult
	document []byte
	exact    bool
}

func (a *app) trim(p *progress, name string, flags modelFlags, req core.TrimRequest) (trimmed, error) {
	meter := newMeter(p.counted)
	req.Conversation = flags.apply(core.Conversation{Messages: json.RawMessage("[]")})
	if _, err := meter.Trim(req); err != nil {
		return trimmed{}, wrongFlags(err)
	}
	p.expect(name)
	data, err := a.readInput(name)
	if err != nil {
		return trimmed{}, err
	}
	p.found(name, len(data))
	doc, err := core.ReadDocument(data)
	if err != nil {
		return trimmed{}, inFile(name, err)
	}
	req.Conversation = flags.apply(doc.Conversation)
	result, err := meter.Trim(req)
	if err != nil {
		return trimmed{}, inFile(name, err)
	}
	measured, err := meter.Measure(core.MeasureRequest{Conversation: req.Conversation}) // what Trim counted is remembered
	if err != nil {
		return trimmed{}, inFile(name, err)
	}
	return trimmed{result, doc.With(result.Messages), measured.Exact}, nil
}
