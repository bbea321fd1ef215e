package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Where a session of the project left a record of its requests, the system prompt and the tools are counted there, and not in the table.
func TestAuditFromRecord(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	records, err := os.ReadFile("../../internal/host/claudecode/testdata/requests/interactive.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:._ `, r) {
			return '-'
		}
		return r
	}, filepath.Join(home, "shop"))
	for path, text := range map[string]string{"shop/CLAUDE.md": "Sell.\n", ".claude/projects/" + name + "/s.jsonl": string(records)} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := &app{home: home, cwd: home, getenv: func(string) string { return "" }, log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	basis := func(dir string) map[string]audit.Basis {
		o := a.auditOptions(filepath.Join(home, dir))
		o.Hosts = []session.Host{session.HostClaudeCode}
		report, err := audit.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]audit.Basis{}
		for _, p := range report.Hosts[0].Parts {
			found[p.Name] = p.Basis
			if p.Name == "built-in tools" && p.Basis == audit.BasisRecord && (len(p.Items) != 13 || *p.Bytes < 15_000) {
				t.Errorf("%d tools of %d bytes", len(p.Items), *p.Bytes)
			}
		}
		return found
	}
	if got := basis("shop"); got["system prompt"] != audit.BasisRecord || got["built-in tools"] != audit.BasisRecord || got["memory"] != audit.BasisFiles {
		t.Errorf("%v", got)
	}
	if got := basis("."); got["system prompt"] != audit.BasisTable || got["built-in tools"] != audit.BasisTable {
		t.Errorf("without a record: %v", got)
	}
}
