package codex

import (
	"context"
	"fmt"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// History implements core.Historian. What a compaction left is its replacement history, in which the host keeps messages of the user as
// they are.
func (Records) History(ctx context.Context, r core.Record, _ bool, visit func(session.Entry) bool) error {
	of := format(r.Path)
	of.Entry = func(data []byte) (session.Entry, bool) {
		e, ok := entry(data, threadOf(r.Path))
		if rep := e.Report; rep != nil {
			if rep.Tuple.IsZero() { // the host's estimate
				e.Report = nil
			} else { // told twice, and without an id
				rep.MessageID = fmt.Sprint(rep.Tuple)
			}
		}
		if e.Boundary != nil {
			var left []string
			for _, p := range replacement(data) {
				left = append(left, p.Text)
			}
			e.Boundary.Summary = strings.Join(left, "\n")
			if e.Boundary.ID == "" {
				e.Boundary.ID = e.At.String()
			}
		}
		for _, p := range e.Content {
			if p.Class == session.ToolResult && failed(p.Text) {
				e.Results = append(e.Results, session.CallResult{CallID: p.CallID, Failed: true})
			}
		}
		return e, ok
	}
	return transcript.Back(ctx, r.Path, of, visit)
}

// failed reports whether the result of a command says that it failed. The host writes the status of the process into the text.
func failed(result string) bool {
	head := result[:min(len(result), 200)]
	for _, mark := range []string{"Process exited with code ", "Exit code: "} {
		if _, status, found := strings.Cut(head, mark); found {
			return !strings.HasPrefix(status, "0\n") && status != "0"
		}
	}
	return false
}
