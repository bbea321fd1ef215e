package claudecode

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/hook/hooktest"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// Every captured transcript: what is visited of it, newest first, and what fills the window by it.
func TestScanCapturedTranscripts(t *testing.T) {
	var got bytes.Buffer
	for _, file := range hooktest.Glob(t, "testdata/transcripts/*.jsonl") {
		fmt.Fprintf(&got, "-- %s --\n%s\n%s\n", filepath.Base(file), scanned(t, file), hooktest.Show(t, breakdown(t, file)))
	}
	hooktest.Golden(t, "testdata/scans.golden", got.Bytes())
}

// scanned writes a line for each piece that is visited.
func scanned(t *testing.T, file string) string {
	t.Helper()
	var lines []string
	total := int64(0)
	err := New(nil).Scan(t.Context(), file, func(done, all int64) {
		if total = all; done > all {
			t.Errorf("%d of %d bytes are done", done, all)
		}
	}, func(e core.Entry) bool {
		if e.Report != nil {
			lines = append(lines, fmt.Sprintf("report %d", e.Report.Tokens))
		}
		for _, p := range e.Content {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %d bytes", p.Class, p.Tool, p.Path, len(p.Text)+p.Bytes)))
		}
		return true
	})
	if info, _ := os.Stat(file); err != nil || total != info.Size() {
		t.Errorf("%s: %v after %d bytes", file, err, total)
	}
	return strings.Join(lines, "\n")
}

// breakdown returns what fills the window of a session whose turn has just ended.
func breakdown(t *testing.T, file string) *core.Breakdown {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	counter, err := token.Get(core.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	s := &core.Service{
		Store: store, Adapters: map[core.Host]core.Adapter{core.HostClaudeCode: New(nil)}, Counter: counter,
		Config: func(string) core.Config { return core.DefaultConfig() }, Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		DirExists: func(string) bool { return false }, Log: slog.New(slog.DiscardHandler),
	}
	ev := core.Event{Host: core.HostClaudeCode, SessionID: "s", Kind: core.TurnFinished, CWD: "/home/dev/project", Transcript: file}
	if _, err := s.Handle(t.Context(), ev); err != nil {
		t.Fatal(err)
	}
	view, err := s.SessionBreakdown(t.Context(), ev.Key(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if b := view.Breakdown; b.Tokens != nil {
		sum := 0
		for _, p := range b.Parts {
			sum += p.Tokens
		}
		if *b.Tokens != *view.Usage.Tokens || sum != *b.Tokens {
			t.Errorf("%s: %d tokens in parts that add up to %d, of %d reported", file, *b.Tokens, sum, *view.Usage.Tokens)
		}
	}
	return view.Breakdown
}

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
	err := New(nil).Scan(t.Context(), file, func(done, _ int64) { most = max(most, done) }, func(e core.Entry) bool {
		if len(e.Content) != 1 || e.Content[0].Class != core.SummaryText {
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
