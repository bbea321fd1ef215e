//go:build linux && e2e

package codex

import (
	"os"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// What ctxls audit says of the memory files is what the model receives: which files, in which order, how many bytes.
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
