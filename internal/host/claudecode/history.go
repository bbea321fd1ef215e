package claudecode

import (
	"bytes"
	"context"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// History implements core.Historian. The host appends to a transcript and never rewrites it, so all windows are there.
func (Records) History(ctx context.Context, r core.Record, texts bool, visit func(session.Entry) bool) error {
	decode := pastEntry
	if texts {
		decode = func(data []byte) (session.Entry, bool) {
			e, ok := entry(data, false)
			return typed(e), ok
		}
	}
	return transcript.Back(ctx, r.Path, transcript.Format{Entry: decode}, visit)
}

var failedResult, thinkingBlock, summaryMark = []byte(`"is_error":true`), []byte(`"type":"thinking"`), []byte(`"isCompactSummary":true`)

// pastEntry decodes a line without the texts of results, thoughts and attachments. Most bytes of a transcript are in those, and are told
// by a search for a few bytes.
func pastEntry(data []byte) (session.Entry, bool) {
	switch {
	case bytes.Contains(data, toolResult):
		if !bytes.Contains(data, failedResult) {
			return session.Entry{}, false
		}
	case bytes.Contains(data, usageMember):
		if bytes.Contains(data, thinkingBlock) && !bytes.Contains(data, toolUse) {
			return session.Entry{}, false
		}
	case bytes.Contains(data, userType), bytes.Contains(data, boundaryType), bytes.Contains(data, summaryMark):
	default:
		return session.Entry{}, false
	}
	e, ok := entry(data, false)
	return typed(e), ok
}

// interrupted is what the host writes in the name of the user who stops it.
const interrupted = "[Request interrupted by user"

// typed marks what the host says in the name of the user as not typed.
func typed(e session.Entry) session.Entry {
	for i := range e.Content {
		if p := &e.Content[i]; p.Class == session.PromptText && (isMachine(p.Text) || strings.HasPrefix(p.Text, interrupted)) {
			p.Class = session.InjectedText
		}
	}
	return e
}
