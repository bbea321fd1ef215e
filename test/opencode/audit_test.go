//go:build linux && e2e

package opencode

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/test/e2e"
)

// ctxls audit lists the memory files that the model receives: the same files, order and number of bytes.
func TestAudit(t *testing.T) {
	w := newTestEnv(t, scripts{"": {{Text: "done", Tokens: 20_000}}})
	w.ContextFiles()
	w.serve()
	w.prompt(w.session("audit"), "hello")
	for _, r := range w.model.Requests() {
		for _, text := range e2e.TextsOfRequest(r) {
			_, block, found := strings.Cut(text, "\nInstructions from: ")
			if !found {
				continue
			}
			block, _, _ = strings.Cut(block, "\nSkills provide specialized instructions")
			block, _, _ = strings.Cut(block, "\n<mcp_instructions>")
			w.SameMemory(session.HostOpenCode, "Instructions from: "+block, func(path string) string { return "Instructions from: " + path })
			return
		}
	}
	t.Fatal("no request has memory files")
}
