//go:build linux && e2e

package gemini

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// What ctxls audit says of the memory files is what the model receives: which files, in which order, how many bytes.
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
