package main

import (
	"bytes"
	"encoding/json"
	"os"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/tools/recorded"
)

// recording is the responses of one record, in order.
type recording []response

// response is one response of a model and what came into the context after it, up to the next.
type response struct {
	model  string
	report session.Report // its Tokens are those of its input
	// early are the pieces that the host wrote before the report, if it reports late: the answer and the results of its calls. late are
	// the others.
	early, late []piece
	chars       int  // characters of the pieces
	tokens      int  // of the pieces
	last        bool // the next response cannot be predicted from this one: a compaction or another model lies between
}

// piece is content. Its host may write it down only of late.
type piece struct {
	session.Piece
	attached bool // an attachment whose text ctxls left out at first
}

// pieces returns all of them.
func (r response) pieces() []piece { return append(r.early[:len(r.early):len(r.early)], r.late...) }

// plain returns pieces as the estimator of ctxls takes them.
func plain(pieces []piece) []session.Piece {
	var out []session.Piece
	for _, p := range pieces {
		out = append(out, p.Piece)
	}
	return out
}

// replay makes responses of the entries of a record.
func replay(f recorded.Found, rules session.Rules, entries []session.Entry, counter token.Counter) (recording, error) {
	without := false
	cfg := settings.UsageConfig{CountCacheWrites: true, CountOutput: &without}
	n, err := readNotes(f)
	if err != nil {
		return nil, err
	}
	var s recording
	var pending []piece // of a host that reports late: the answer that will be reported, and what follows it
	lateHost := false
	for _, e := range entries {
		lateHost = lateHost || e.Report != nil && e.Report.Late
	}
	for _, e := range entries {
		if len(s) > 0 && e.Boundary != nil {
			s[len(s)-1].last = true
		}
		if rep := e.Report; rep != nil && !rep.Tuple.IsZero() {
			known := len(s)
			r := *rep
			r.Tokens = rep.Occupancy(cfg, rules)
			s = s.respond(r)
			if len(s) > known {
				s[len(s)-1].add(pending, true)
				pending = nil
			}
			s[len(s)-1].think(n.thoughts[rep.MessageID], counter)
			delete(n.thoughts, rep.MessageID)
		}
		for _, p := range e.Content {
			p.Tokens, p.ToolClass = counter.Count(p.Text), rules.Tools[p.Tool]
			one := piece{p, n.attached[e.Offset]}
			switch isAnswer := p.Class == session.AnswerText || p.Class == session.ToolCall || p.Class == session.Thought; {
			case lateHost && (isAnswer || len(pending) > 0):
				pending = append(pending, one)
			case len(s) > 0:
				s[len(s)-1].add([]piece{one}, false)
			}
		}
	}
	if len(s) > 0 {
		s[len(s)-1].last = true
	}
	return s, nil
}

// add adds pieces and drops their texts.
func (r *response) add(pieces []piece, early bool) {
	for _, p := range pieces {
		r.tokens += p.Tokens
		r.chars += utf8.RuneCountInString(p.Text)
		p.Text = ""
		if early {
			r.early = append(r.early, p)
		} else {
			r.late = append(r.late, p)
		}
	}
}

// think counts thoughts, which a plain count has of an answer, too.
func (r *response) think(thoughts []string, counter token.Counter) {
	for _, text := range thoughts {
		r.tokens += counter.Count(text)
		r.chars += utf8.RuneCountInString(text)
	}
}

// notes are what the parser of the hooks does not tell of a transcript of Claude Code.
type notes struct {
	// thoughts has the texts of the thoughts of an answer, by the id of its message. The parser leaves them out, since the length of their
	// signatures tells more. Some versions of the host write none.
	thoughts map[string][]string
	attached map[int64]bool // by offset: lines with an attachment without the text that the host made of it
}

func readNotes(f recorded.Found) (notes, error) {
	n := notes{thoughts: map[string][]string{}, attached: map[int64]bool{}}
	if f.Host != session.HostClaudeCode {
		return n, nil
	}
	data, err := os.ReadFile(f.Path)
	if err != nil {
		return n, err
	}
	offset := int64(0)
	for line := range bytes.Lines(data) {
		at := offset
		offset += int64(len(line))
		var l struct {
			IsSidechain bool
			Attachment  *struct {
				Text     string
				Rendered json.RawMessage
			}
			Rendered json.RawMessage
			Message  struct {
				ID      string
				Content json.RawMessage
			}
		}
		if json.Unmarshal(line, &l) != nil || l.IsSidechain {
			continue
		}
		if a := l.Attachment; a != nil && a.Text == "" && a.Rendered == nil && l.Rendered == nil {
			n.attached[at] = true
		}
		var blocks []struct{ Thinking string }
		if json.Unmarshal(l.Message.Content, &blocks) != nil {
			continue
		}
		for _, block := range blocks {
			if block.Thinking != "" {
				n.thoughts[l.Message.ID] = append(n.thoughts[l.Message.ID], block.Thinking)
			}
		}
	}
	return n, nil
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
