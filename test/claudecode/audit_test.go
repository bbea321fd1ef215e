//go:build linux && e2e

package claudecode

import (
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/test/e2e"
)

// ctxls audit lists the memory files that the model receives: the same files, order and number of bytes.
func TestAudit(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{"": {{Text: "done", Tokens: 20_000}}})
	w.ContextFiles()
	w.prompt("aaaaaaaa-0000-4000-8000-000000000001", "hello")
	for _, r := range w.model.Requests() {
		for _, text := range e2e.TextsOfRequest(r) {
			if strings.Contains(text, "Codebase and user instructions are shown below") {
				w.SameMemory(session.HostClaudeCode, strings.TrimSuffix(text, "\n"), func(path string) string { return "Contents of " + path })
				return
			}
		}
	}
	t.Fatal("no request has memory files")
}
