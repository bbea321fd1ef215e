package claudecode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// A transcript without an end in sight is read to where the last compaction was, and no further.
func TestScanEndsAtTheLastCompaction(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.jsonl")
	old := strings.Repeat(`{"type":"user","uuid":"old","message":{"content":"`+strings.Repeat("x", 1000)+`"}}`+"\n", 5000)
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"b","compactMetadata":{}}` + "\n"
	summary := `{"type":"user","isCompactSummary":true,"message":{"content":"so far so good"}}` + "\n"
	if err := os.WriteFile(file, []byte(old+boundary+summary), 0o600); err != nil {
		t.Fatal(err)
	}
	most := int64(0)
	err := New(nil).Scan(t.Context(), file, func(done, _ int64) { most = max(most, done) }, func(e session.Entry) bool {
		if len(e.Content) != 1 || e.Content[0].Class != session.SummaryText {
			t.Errorf("visited %v", e)
		}
		return true
	})
	if err != nil || most != int64(len(boundary+summary)) {
		t.Errorf("read %d bytes back, want %d (%v)", most, len(boundary+summary), err)
	}
	if err := New(nil).Scan(t.Context(), t.TempDir(), func(int64, int64) {}, nil); err == nil {
		t.Error("a directory was scanned")
	}
}
