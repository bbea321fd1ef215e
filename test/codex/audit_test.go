//go:build linux && e2e

package codex

import (
	"os"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// ctxls audit lists the memory files that the model receives: the same files, order and number of bytes.
func TestAudit(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"": {{text: "done", tokens: 20_000}}})
	w.ContextFiles()
	w.prompt("", "hello")
	for _, r := range w.model.Requests() {
		for _, text := range textsOf(r.Body["input"]) {
			if strings.HasPrefix(text, "# AGENTS.md instructions for ") {
				w.SameMemory(session.HostCodex, text, func(path string) string { // it names no file: its text stands for it
					data, _ := os.ReadFile(path)
					return strings.TrimSpace(string(data))
				})
				return
			}
		}
	}
	t.Fatal("no request has memory files")
}
