//go:build linux && e2e

package gemini

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// ctxls audit lists the memory files that the model receives: the same files, order and number of bytes.
func TestAudit(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"": {{text: "done", tokens: 20_000}}})
	w.ContextFiles()
	w.prompt("aaaaaaaa-0000-4000-8000-000000000001", "hello")
	const end = "</loaded_context>"
	for _, r := range w.model.Requests() {
		for _, text := range textsOf(r.Body["contents"]) {
			if start := strings.Index(text, "<loaded_context>"); start >= 0 {
				block := text[start : strings.Index(text, end)+len(end)]
				w.SameMemory(session.HostGeminiCLI, block, func(path string) string { return "--- Context from: " + path })
				return
			}
		}
	}
	t.Fatal("no request has memory files")
}
