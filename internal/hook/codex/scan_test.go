package codex

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/hook/hooktest"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// Every captured rollout: what is visited of it, newest first, and what fills the window by it.
func TestScanCapturedRollouts(t *testing.T) {
	files, err := filepath.Glob("testdata/rollouts/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	counter, err := token.Get(core.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for _, file := range files {
		fmt.Fprintf(&got, "-- %s --\n", filepath.Base(file))
		err := New().Scan(t.Context(), file, func(int64, int64) {}, func(e core.Entry) bool {
			if e.Report != nil {
				fmt.Fprintf(&got, "report %d\n", e.Report.Tokens)
			}
			for _, p := range e.Content {
				fmt.Fprintf(&got, "%s %s %d bytes\n", p.Class, p.Tool, len(p.Text)+p.Bytes)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "state.db")})
		if err != nil {
			t.Fatal(err)
		}
		s := &core.Service{
			Store: store, Adapters: map[core.Host]core.Adapter{core.HostCodex: New()}, Counter: counter,
			Config: func(string) core.Config { return core.DefaultConfig() }, Now: func() time.Time { return time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC) },
			DirExists: func(string) bool { return false }, Log: slog.New(slog.DiscardHandler),
		}
		ev := core.Event{Host: core.HostCodex, SessionID: "s", Kind: core.TurnFinished, CWD: "/home/dev/project", Transcript: file}
		if _, err := s.Handle(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
		view, err := s.SessionBreakdown(t.Context(), ev.Key(), nil)
		if err != nil {
			t.Fatal(err)
		}
		store.Close()
		b, sum := view.Breakdown, 0
		var parts []string
		for _, p := range b.Parts {
			sum += p.Tokens
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s", p.Category, p.Tool))+fmt.Sprintf(" %d", p.Tokens))
		}
		if b.Tokens != nil && (sum != *b.Tokens || *b.Tokens != *view.Usage.Tokens) {
			t.Errorf("%s: parts add up to %d of %d", file, sum, *b.Tokens)
		}
		fmt.Fprintf(&got, "= %d: %s %s\n", sum, strings.Join(parts, ", "), b.Why)
	}
	hooktest.Golden(t, "testdata/scans.golden", got.Bytes())
}
