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
	decode := new(pastLines).entry
	if texts {
		decode = func(data []byte) (session.Entry, bool) {
			e, ok := entry(data, false)
			return typed(e), ok
		}
	}
	return transcript.Back(ctx, r.Path, transcript.Format{Entry: decode}, visit)
}

var (
	failedResult, thinkingBlock, summaryMark = []byte(`_error":true`), []byte(`"type":"thinking"`), []byte(`"isCompactSummary":true`)
	role, attachmentOf                       = []byte(`"role":"`), []byte(`"attachment":{`)
)

// headOfLine is how many bytes of a line are searched for what kind of line it is: the host writes ids and the directory before the role.
const headOfLine = 1 << 10

// commandWindows is how many compactions back commands are read; before them only prompts. It is one more than the windows that count,
// since the record may hold the compaction in question already.
const commandWindows = 3

// pastLines decodes the lines of a transcript, which come newest first.
type pastLines struct {
	compactions int // met so far
}

// entry decodes a line without the texts of answers, results, thoughts and attachments. Most bytes of a transcript are in those. The
// first bytes of a line tell what it is; only where they do not is all of it searched.
func (p *pastLines) entry(data []byte) (session.Entry, bool) {
	head := data[:min(len(data), headOfLine)]
	who := byte(0) // the first letter of the role
	if i := bytes.Index(head, role); i >= 0 && i+len(role) < len(head) {
		who = head[i+len(role)]
	}
	switch {
	case p.compactions >= commandWindows && (who == 'a' || who == 'u' && bytes.Contains(head, toolResult)):
		return session.Entry{}, false
	case who == 'a':
		if !bytes.Contains(head, toolUse) && !bytes.Contains(data, toolUse) {
			return answered(data)
		}
	case who == 'u':
		if bytes.Contains(head, toolResult) && !bytes.Contains(data, failedResult) {
			return session.Entry{}, false
		}
	case bytes.Contains(head, attachmentOf):
		return session.Entry{}, false
	case bytes.Contains(data, usageMember), bytes.Contains(data, userType), bytes.Contains(data, boundaryType), bytes.Contains(data, summaryMark):
	default:
		return session.Entry{}, false
	}
	e, ok := entry(data, false)
	if p.compactions >= commandWindows && e.Report != nil {
		return session.Entry{}, false
	}
	if b := e.Boundary; b != nil && !b.Micro && b.ID != "" {
		p.compactions++
	}
	return typed(e), ok
}

// answered returns the report of an answer that calls no tool. A thought is a part of an answer that follows.
func answered(data []byte) (session.Entry, bool) {
	if bytes.Contains(data, thinkingBlock) {
		return session.Entry{}, false
	}
	rep := reportOf(data)
	if rep == nil {
		return session.Entry{}, false
	}
	return session.Entry{At: rep.At, Report: rep}, true
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
