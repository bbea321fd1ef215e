package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

var trimCommand = command{
	name: "trim", synopsis: "FILE…|- [flags]", short: "remove the oldest messages of conversations until they fit",
	long: `
A FILE is an array of messages or the body of a request; - is standard input. The output is the same document with fewer
messages; the other messages keep their bytes. System messages stay, and a tool call is removed together with its results. A
line on stderr says what was done. If the target cannot be met, everything that may be removed is removed, and the exit
status is 1.

Several files need --output, the directory to which each is written under its own name. --json prints the result of
context/trim for one file, and {"files": […]} for several.`,
	examples: `ctxls trim request.json > shorter.json
ctxls trim --target 100000 --strategy toolResults --keep-last 4 chat.json
jq .messages request.json | ctxls trim - --start-on user
ctxls trim --output shorter/ *.json`,
	offers: func(_ context.Context, _ *app, o *completion.Offer, _ []string) { o.Paths = "files" },
	setup: func(fs *pflag.FlagSet) action {
		var flags modelFlags
		var req conversation.TrimRequest
		flags.add(fs)
		target := tokensVar(fs, "target", "`tokens` to trim to (default: the setting trim.targetTokens)")
		fs.StringVar(&req.Strategy, "strategy", "oldest", "oldest removes messages; toolResults first clears the oldest tool results; plan first clears what 'ctxls plan' lists")
		fs.IntVar(&req.KeepLast, "keep-last", 0, "keep the newest `n` messages; a call and its results count as one")
		fs.StringVar(&req.StartOn, "start-on", "", "user: the first message after the system messages must be a user's")
		output := fs.String("output", "", "`directory` to write the documents to, instead of printing")
		asJSON := fs.Bool("json", false, "print the result of context/trim as JSON instead of the document")
		return func(ctx context.Context, a *app, args []string) error {
			switch {
			case len(args) == 0:
				return usageError{"trim takes files, or - for standard input"}
			case len(args) > 1 && *output == "" && !*asJSON:
				return usageError{"several files need --output, a directory to write them to, or --json"}
			}
			if err := onceFromStdin(args); err != nil {
				return err
			}
			if !fs.Changed("target") {
				*target = a.settings("").Trim.TargetTokens
			}
			req.TargetTokens = target
			places, err := trimPlaces(*output, args)
			if err != nil {
				return err
			}
			flags.note(a)
			p := a.startProgress()
			all, err := untilInterrupted(ctx, func() ([]trimmed, error) { return a.trim(p, args, flags, req) })
			p.stop()
			if err != nil {
				return err
			}
			for i, place := range places {
				if err := writeWhole(place, all[i].document); err != nil {
					return err
				}
			}
			printed := all[0].document
			if *asJSON {
				printed = trimJSON(all)
			}
			if *asJSON || *output == "" {
				if _, err := a.stdout.Write(printed); err != nil {
					return err
				}
			}
			return sayTrimmed(a, all, *target)
		}
	},
}

// trimPlaces returns the paths to write the documents to; nil without --output. No two documents may have the same path, and none
// may overwrite its input.
func trimPlaces(dir string, inputs []string) (places []string, err error) {
	if dir == "" {
		return nil, nil
	}
	from := map[string]string{}
	for _, input := range inputs {
		if input == "-" {
			return nil, usageError{"--output: standard input has no file name"}
		}
		place := filepath.Join(dir, filepath.Base(input))
		if other, taken := from[place]; taken {
			return nil, usageError{fmt.Sprintf("--output: %s and %s would be one file", text.Sanitize(other, 0), text.Sanitize(input, 0))}
		}
		old, oldErr := os.Stat(place)
		if now, err := os.Stat(input); err == nil && oldErr == nil && os.SameFile(old, now) {
			return nil, usageError{fmt.Sprintf("--output: %s would be overwritten", text.Sanitize(input, 0))}
		}
		from[place] = input
		places = append(places, place)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, usageError{fmt.Sprintf("--output: %s is a file; want a directory", text.Sanitize(dir, 0))}
	}
	return places, os.MkdirAll(dir, 0o700)
}

// sayTrimmed prints what was done to standard error. Its error says that a target was not met.
func sayTrimmed(a *app, all []trimmed, target int) (err error) {
	for _, t := range all {
		name := ""
		if len(all) > 1 {
			name = text.Sanitize(t.file, 0) + ": "
		}
		fmt.Fprintln(a.stderr, "ctxls:", name+ui.Trimmed(t.TrimResult, t.exact))
		if !t.Satisfied && err == nil {
			err = fmt.Errorf("%s%s tokens are above the target of %s: no more messages can be removed", name, text.Thousands(t.Tokens), text.Thousands(target))
		}
	}
	return err
}

// trimJSON returns the results as JSON. The messages in it keep the bytes of the inputs.
func trimJSON(all []trimmed) []byte {
	if len(all) == 1 {
		return append(all[0].AppendJSON(nil), '\n')
	}
	out := []byte(`{"files":[`)
	for i, t := range all {
		if i > 0 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(t.file)
		out = append(append(append(out, `{"file":`...), name...), ',')
		out = append(out, bytes.TrimPrefix(t.AppendJSON(nil), []byte("{"))...)
	}
	return append(out, "]}\n"...)
}

// trimmed is one input after the trim.
type trimmed struct {
	conversation.TrimResult
	file     string
	document []byte
	exact    bool
}

// trim trims the inputs one after another. Nothing is written before all were read.
func (a *app) trim(p *progress, names []string, flags modelFlags, req conversation.TrimRequest) ([]trimmed, error) {
	meter := newMeter(p.counted)
	req.Conversation = flags.apply(conversation.Conversation{Messages: json.RawMessage("[]")})
	if _, err := meter.Trim(req); err != nil {
		return nil, wrongFlags(err)
	}
	p.expect(names...)
	var all []trimmed
	for _, name := range names {
		data, err := a.readInput(name)
		if err != nil {
			return nil, err
		}
		p.found(name, len(data))
		t, err := trimOne(meter, data, flags, req)
		if err != nil {
			return nil, inFile(name, err)
		}
		p.reached()
		t.file = name
		all = append(all, t)
	}
	return all, nil
}

func trimOne(meter *conversation.Meter, data []byte, flags modelFlags, req conversation.TrimRequest) (trimmed, error) {
	doc, err := readDocument(data)
	if err != nil {
		return trimmed{}, err
	}
	req.Conversation = flags.apply(doc.Conversation)
	result, err := meter.Trim(req)
	if err != nil {
		return trimmed{}, err
	}
	measured, err := meter.Measure(conversation.MeasureRequest{Conversation: req.Conversation}) // the meter caches the counts of Trim
	return trimmed{TrimResult: result, document: doc.With(result.Messages), exact: measured.Exact}, err
}
