package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The help names every tool that tools/list returns.
func TestMCPHelpNamesTools(t *testing.T) {
	cmd := exec.Command(asCtxls(t), "mcp", "--state", filepath.Join(t.TempDir(), "state.db"))
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
`)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	for line := range strings.Lines(string(out)) {
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
	}
	if len(answer.Result.Tools) == 0 {
		t.Fatalf("no tools in %s", out)
	}
	words := strings.Fields(mcpCommand.long)
	for _, tool := range answer.Result.Tools {
		if !slices.Contains(words, tool.Name) {
			t.Errorf("'ctxls help mcp' does not name the tool %s", tool.Name)
		}
	}
}
