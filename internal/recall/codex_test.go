package recall_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/codex"
	"github.com/ctxls/ctxls/internal/recall"
)

// The captured rollouts of Codex keep what a compaction took out of the window, so that it is found. Where a rollout is rewritten at a
// compaction, what was indexed before stays.
func TestRolloutsOfCodex(t *testing.T) {
	const captured = "../host/codex/testdata/rollouts/manual-compact-01a1fe7c-6aa6-7143-b87f-ba83bc866578.jsonl"
	data, err := os.ReadFile(captured)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte(`"type":"compacted"`))
	at = bytes.LastIndexByte(data[:at], '\n') + 1
	head := data[:bytes.IndexByte(data, '\n')+1]

	dir := t.TempDir()
	r := core.Record{Key: session.Key{Host: session.HostCodex, SessionID: "s"}, Path: filepath.Join(dir, filepath.Base(captured))}
	tools := codex.New(func(string) string { return "" }).Rules().Tools
	calls := func(index *recall.Index, content []byte) int {
		t.Helper()
		if err := os.WriteFile(r.Path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		lines, _, _, err := index.Search(t.Context(), r, codex.Records{}, tools, "cat notes", 10)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, line := range lines {
			if line.Role == "call" {
				n++
			}
		}
		return n
	}
	appended := recall.New(filepath.Join(dir, "appended"))
	if n := calls(appended, data); n != 1 {
		t.Errorf("%d calls of before the compaction are found, want 1", n)
	}
	rewritten := recall.New(filepath.Join(dir, "rewritten"))
	if n := calls(rewritten, data[:at]); n != 0 {
		t.Errorf("%d calls are found and nothing was compacted", n)
	}
	if n := calls(rewritten, append(bytes.Clone(head), data[at:at+bytes.IndexByte(data[at:], '\n')+1]...)); n != 1 {
		t.Errorf("%d calls are found after the rollout was rewritten, want 1", n)
	}
}
