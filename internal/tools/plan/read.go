package main

import (
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/token"
)

// recording is one context of a session: all of it up to a compaction, or between two.
type recording struct {
	parts    []plan.Part
	before   int       // tokens that no record explains: system prompt and tools
	requests []request // in order
	model    string
}

// request is one call of the model.
type request struct {
	parts int // how many parts it had
	at    time.Time
}

// contexts returns the contexts of a session that have at least two requests. Copies of responses that were seen are left out.
func contexts(entries []session.Entry, tools map[string]session.ToolClass, counter token.Counter, seen map[string]bool) []recording {
	var found []recording
	var current []session.Entry
	for _, e := range entries {
		if e.Boundary != nil && !e.Boundary.Micro {
			found = append(found, newRecording(current, seen))
			current = nil
			if e.Boundary.Summary != "" {
				e.Content = append(e.Content, session.Piece{Class: session.SummaryText, Text: e.Boundary.Summary})
			}
		}
		for i := range e.Content {
			p := &e.Content[i]
			p.Tokens, p.ToolClass = counter.Count(p.Text), tools[p.Tool]
		}
		current = append(current, e)
	}
	found = append(found, newRecording(current, seen))
	return slices.DeleteFunc(found, func(c recording) bool { return len(c.requests) < 2 })
}

// newRecording makes a recording of entries. Its parts add up to what was reported of the first request.
func newRecording(entries []session.Entry, seen map[string]bool) (r recording) {
	rec := core.NewTranscript()
	var reports []session.Report
	var had []int // pieces before each
	n, last := 0, ""
	for _, e := range entries {
		if rep := e.Report; rep != nil && rep.MessageID != last {
			last = rep.MessageID
			if !seen[rep.MessageID] || rep.MessageID == "" {
				reports, had = append(reports, *rep), append(had, n)
				seen[rep.MessageID] = true
			}
		}
		rec.Add(e)
		n += len(e.Content)
	}
	if len(reports) == 0 {
		return r
	}
	r.model = reports[0].Model
	r.parts = rec.Parts(session.NewEstimator("anthropic", r.model, session.Calibration{Model: r.model, Encoding: session.Encoding}))
	explained := 0
	for _, p := range r.parts[:had[0]] {
		explained += p.Tokens
	}
	r.before = max(0, reports[0].Tokens-explained)
	for i, rep := range reports {
		if had[i] > 0 && (i == 0 || had[i] > had[i-1]) {
			r.requests = append(r.requests, request{had[i], rep.At})
		}
	}
	return r
}

// keep is how many of the newest responses a plan leaves alone.
const keep = 4

// planAt makes the plan before a request. cut are parts that have gone already, with what is left of them.
func (r recording) planAt(i int, cut map[int]bool) plan.Found {
	parts := slices.Clone(r.parts[:r.requests[i].parts])
	for part := range cut {
		parts[part].Cleared, parts[part].Tokens = true, min(parts[part].Left, parts[part].Tokens)
	}
	core.ProtectNewest(parts, keep)
	return plan.Find(plan.Conversation{Parts: parts, Before: r.before})
}
