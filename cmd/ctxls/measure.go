package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/records"
	"github.com/ctxls/ctxls/internal/ui"
)

var measureCommand = command{
	name: "measure", synopsis: "FILE…|- [flags]", short: "count the tokens of conversations and texts",
	long: `
A FILE is an array of messages, the body of a request (messages with system, tools and model), or plain text; - is
standard input. A file that begins with [ or { is read as JSON, unless --text is given. Messages may have the form of
OpenAI, Anthropic, OpenCode or Gemini. "~" marks a count that is not exact, because of images, unknown blocks, or a model
whose encoding is not public. A host's record of a session shows what the provider reported last.

--json prints the result of context/measure for one file, and {"files": […], "tokens", "exact"} for several.`,
	examples: `ctxls measure request.json
ctxls measure --by-role --window 200000 *.json
git diff | ctxls measure -
ctxls measure --json chat.json | jq .tokens`,
	offers: func(_ context.Context, _ *app, o *completion.Offer, _ []string) { o.Paths = "files" },
	setup: func(fs *pflag.FlagSet) action {
		var m measuring
		m.modelFlags.add(fs)
		threshold := tokensVar(fs, "threshold", "`tokens` above which a conversation is too long (default: the setting trim.thresholdTokens)")
		window := tokensVar(fs, "window", "size of the model's window in `tokens`")
		fs.BoolVar(&m.text, "text", false, "count everything as plain text")
		fs.BoolVar(&m.byRole, "by-role", false, "show the tokens of each role")
		fs.BoolVar(&m.byMessage, "by-message", false, "show the tokens of each message")
		asJSON := fs.Bool("json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) == 0 {
				return usageError{"measure takes files, or - for standard input"}
			}
			if err := onceFromStdin(args); err != nil {
				return err
			}
			m.threshold = a.settings("").Trim.ThresholdTokens
			if fs.Changed("threshold") {
				m.threshold = *threshold
			}
			if fs.Changed("window") {
				m.window = window
			}
			m.note(a)
			p := a.startProgress()
			results, err := untilInterrupted(ctx, func() ([]ui.Measured, error) { return m.measure(a, p, args) })
			p.stop()
			switch {
			case err != nil:
				return err
			case !*asJSON:
				return ui.Measurements(a.stdout, results)
			case len(results) == 1:
				return printJSON(a.stdout, results[0])
			}
			return printJSON(a.stdout, sumOf(results))
		}
	},
}

// onceFromStdin returns an error if standard input is named more than once, since the second reader would find it empty, or if a name is
// empty, as of a variable that is not set.
func onceFromStdin(names []string) error {
	if slices.Contains(names, "") {
		return usageError{"the name of a file is empty"}
	}
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return usageError{"- is standard input, which can be read once"}
	}
	return nil
}

// measuring holds the flags of measure.
type measuring struct {
	modelFlags
	threshold               int
	window                  *int
	text, byRole, byMessage bool
}

func (m *measuring) request(c conversation.Conversation) conversation.MeasureRequest {
	return conversation.MeasureRequest{Conversation: m.apply(c), ThresholdTokens: &m.threshold, WindowTokens: m.window, Breakdown: true}
}

// measure measures the inputs one after another.
func (m *measuring) measure(a *app, p *progress, names []string) ([]ui.Measured, error) {
	meter := newMeter(p.counted)
	if _, err := meter.Measure(m.request(conversation.Conversation{Messages: json.RawMessage("[]")})); err != nil {
		return nil, wrongFlags(err)
	}
	p.expect(names...)
	var results []ui.Measured
	for _, name := range names {
		if record, ok, err := m.measureRecord(a, name); err != nil {
			return nil, inFile(name, err)
		} else if ok {
			results = append(results, record)
			continue
		}
		data, err := a.readInput(name)
		if err != nil {
			return nil, err
		}
		p.found(name, len(data))
		result, err := m.measureOne(meter, data)
		if err != nil {
			return nil, hintError{inFile(name, err), "--text counts it as plain text"}
		}
		p.reached()
		result.File = name
		results = append(results, result)
	}
	return results, nil
}

// measureRecord returns what a host's record of a session says that the window holds; false where the file is no record.
func (m *measuring) measureRecord(a *app, name string) (result ui.Measured, ok bool, err error) {
	if m.text || name == "-" {
		return result, false, nil
	}
	adapters := registry.Adapters(nil)
	files := records.Over(nil, records.Options{
		Recorders: registry.Recorders(a.env()), Rules: func(host session.Host) session.Rules { return adapters[host].Rules() },
		Prepare: func(*session.Event) {}, Config: a.settings, Now: time.Now,
	})
	snap, ok, err := files.File(context.Background(), name)
	if !ok || err != nil {
		return result, ok, err
	}
	e := snap.Session
	usage := core.View(snap, session.LearnedWindow{}, a.settings(e.CWD), adapters[e.Host].Rules(), time.Now()).Usage
	if usage.Tokens == nil {
		return result, true, fmt.Errorf("a record of %s that reports no tokens since the last compaction", e.Host)
	}
	result.File, result.Tokens, result.Exact, result.WindowTokens, result.Percent = name, *usage.Tokens, usage.Exact, &usage.WindowTokens, usage.Percent
	result.Record = true
	result.ThresholdTokens, result.ExceedsThreshold = m.threshold, *usage.Tokens > m.threshold
	return result, true, nil
}

func (m *measuring) measureOne(meter *conversation.Meter, data []byte) (ui.Measured, error) {
	result := ui.Measured{Text: m.text || !looksLikeJSON(data)}
	var measured conversation.Measurement
	var err error
	if result.Text && !m.text && (!utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0) {
		return result, errors.New("neither JSON nor text in UTF-8")
	}
	if result.Text {
		measured, err = meter.MeasureText(string(data), m.request(conversation.Conversation{}))
	} else {
		var doc conversation.Document
		if doc, err = readDocument(data); err == nil {
			measured, err = meter.Measure(m.request(doc.Conversation))
		}
	}
	if err != nil {
		return result, err
	}
	result.Measurement, result.Messages = measured, len(measured.ByMessage)
	if !m.byRole {
		result.ByRole = nil
	}
	if !m.byMessage {
		result.ByMessage = nil
	}
	return result, nil
}

// measuredSum is the result of several inputs as JSON.
type measuredSum struct {
	Files  []ui.Measured `json:"files"`
	Tokens int           `json:"tokens"`
	Exact  bool          `json:"exact"`
}

func sumOf(results []ui.Measured) measuredSum {
	sum := measuredSum{Files: results, Exact: true}
	for _, r := range results {
		sum.Tokens += r.Tokens
		sum.Exact = sum.Exact && r.Exact
	}
	return sum
}
