package gemini

import (
	"context"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// History implements core.Historian. The record says nothing of compactions.
func (Records) History(ctx context.Context, r core.Record, _ bool, visit func(session.Entry) bool) error {
	return transcript.Back(ctx, r.Path, transcript.Format{Entry: pastEntry}, visit)
}

// pastEntry decodes one line with what it adds to the conversation. An answer is written again with its calls, under one id.
func pastEntry(data []byte) (session.Entry, bool) {
	e, _ := entry(data)
	var id, calls []byte
	transcript.Pick(data, transcript.Field{Name: "id", Value: &id}, transcript.Field{Name: "toolCalls", Value: &calls})
	e.Content = content(data)
	if e.Report != nil {
		e.Report.MessageID = transcript.String(id)
	}
	transcript.Elements(calls, func(call []byte) bool {
		var id, status []byte
		transcript.Pick(call, transcript.Field{Name: "id", Value: &id}, transcript.Field{Name: "status", Value: &status})
		if s := transcript.String(status); s != "" && s != "success" {
			e.Results = append(e.Results, session.CallResult{CallID: transcript.String(id), Failed: true})
		}
		return true
	})
	return e, e.Report != nil || len(e.Content)+len(e.Paths)+len(e.Results) > 0
}
