package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Files are counted in the client's folders, and compared with the room that the caller's session has left.
func TestEstimate(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "big.txt"), []byte(strings.Repeat("hello world ", 1150)), 0o600); err != nil {
		t.Fatal(err)
	}
	service := newService(t)
	s := New(Options{Service: service, Folders: []string{dir}})
	e, err := s.estimate(t.Context(), []string{dir}, []string{"big.txt"}, nil, nil)
	if err != nil || e.RoomTokens != nil || e.PercentOfRoom != nil || !strings.HasSuffix(estimateText(e), "How much room this session has left is not known.") {
		t.Errorf("without a session: %+v, %v", e, err)
	}
	if _, err := service.Handle(t.Context(), session.Event{Host: "claude-code", SessionID: "s1", Name: "StatusLine", Kind: session.UsageReported, CWD: dir, Model: "claude-sonnet-4-6",
		Reports: []session.Report{{Tokens: 144_000, Provenance: session.ProvenanceHost, Model: "claude-sonnet-4-6", At: noon}}}); err != nil {
		t.Fatal(err)
	}
	e, err = s.estimate(t.Context(), []string{dir}, []string{"big.txt"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "2,301 tokens (cl100k_base, an approximation) in 1 files: 10.0% of the 23,000 tokens that this session has left."
	if got := estimateText(e); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
