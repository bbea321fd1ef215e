package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/host/claudecode"
)

// session is the responses of one transcript, in order.
type recording []response

// response is one response of a model and what came into the context after it, up to the next.
type response struct {
	model  string
	report session.Report
	pieces []session.Piece
	chars  int  // characters of the pieces
	tokens int  // of the pieces, in cl100k_base
	last   bool // the next response cannot be predicted from this one: a compaction or another model lies between
}

// replay reads a whole transcript, or the end of one that is longer than a read goes.
func replay(ctx context.Context, path string, counter token.Counter) (recording, []session.Entry, error) {
	adapter := claudecode.New(nil)
	tools := adapter.Rules().Tools
	seen, err := adapter.Read(ctx, path, session.Cursor{})
	if err != nil {
		return nil, nil, err
	}
	start := seen.Cursor
	start.Offset = 0
	reading, err := adapter.Read(ctx, path, start)
	if err != nil {
		return nil, nil, err
	}
	thoughts, err := thinking(path)
	if err != nil {
		return nil, nil, err
	}
	var s recording
	for _, e := range reading.Entries {
		if e.Report != nil {
			s = s.respond(*e.Report)
		}
		if len(s) == 0 {
			continue
		}
		r := &s[len(s)-1]
		r.last = r.last || e.Boundary != nil
		if e.Report != nil { // what a plain count has of an answer is its thoughts, too
			for _, text := range thoughts[e.Report.MessageID] {
				r.tokens += counter.Count(text)
				r.chars += utf8.RuneCountInString(text)
			}
			delete(thoughts, e.Report.MessageID)
		}
		for i := range e.Content {
			p := &e.Content[i]
			p.Tokens, p.ToolClass = counter.Count(p.Text), tools[p.Tool]
			r.tokens += p.Tokens
			r.chars += utf8.RuneCountInString(p.Text)
			p.Text = ""
			r.pieces = append(r.pieces, *p)
		}
	}
	if len(s) > 0 {
		s[len(s)-1].last = true
	}
	return s, reading.Entries, nil
}

// thinking returns the text of the thoughts of every answer of a main chain, by the id of its message. The parser of the hooks leaves
// it out, since the length of its signature tells more; some versions of the host write none.
func thinking(path string) (map[string][]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	thoughts := map[string][]string{}
	for line := range bytes.Lines(data) {
		var l struct {
			IsSidechain bool
			Message     struct {
				ID      string
				Content json.RawMessage
			}
		}
		var blocks []struct{ Thinking string }
		if json.Unmarshal(line, &l) != nil || l.IsSidechain || json.Unmarshal(l.Message.Content, &blocks) != nil {
			continue
		}
		for _, block := range blocks {
			if block.Thinking != "" {
				thoughts[l.Message.ID] = append(thoughts[l.Message.ID], block.Thinking)
			}
		}
	}
	return thoughts, nil
}

// respond adds a report: of a new response, or of one more line of the last.
func (s recording) respond(rep session.Report) recording {
	if len(s) > 0 {
		r := &s[len(s)-1]
		if r.report.MessageID == rep.MessageID && r.report.Tokens == rep.Tokens {
			r.report.Tuple.Output = max(r.report.Tuple.Output, rep.Tuple.Output)
			return s
		}
		r.last = r.last || r.model != model.Plain(rep.Model)
	}
	return append(s, response{model: model.Plain(rep.Model), report: rep})
}
