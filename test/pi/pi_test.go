//go:build linux && e2e

package pi

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, e2e.Host{Name: "pi", Program: func(string) string { return filepath.Join("@mariozechner", "pi-coding-agent", "dist", "cli.js") }})
}

func newAgent(t *testing.T) *e2e.Agent {
	t.Parallel()
	a := e2e.NewAgent(t, "pi", 128_000)
	a.File = filepath.Join(a.Home, ".pi", "agent", "extensions", "ctxls.js")
	a.Write(filepath.Join(a.Home, ".pi", "agent", "models.json"), fmt.Sprintf(`{"providers": {"mock": {"baseUrl": "%s/v1", "api": "openai-completions",
		"apiKey": "fake-000", "models": [{"id": "mock-model", "contextWindow": %d, "maxTokens": 16000}]}}}`, a.Model.URL, a.Window))
	a.Env = []string{"PI_OFFLINE=1"}
	a.AfterTurn, a.Keeps = true, true
	a.Told, a.Counted = e2e.Told{Reminder: true}, e2e.OutputTokens
	var begun []string
	command := func(args ...string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
		t.Cleanup(cancel)
		return a.Command(ctx, "node", append(append([]string{e2e.HostBin(), "--provider", "mock", "--model", "mock-model"}, begun...), args...)...)
	}
	a.Prompt = func(text string) string {
		t.Helper()
		out, err := command("-p", text).CombinedOutput()
		begun = []string{"--continue"}
		if err != nil {
			t.Errorf("pi -p %q: %v\n%s", text, err, out)
		}
		return string(out)
	}
	a.Compact = func() {
		t.Helper()
		cmd := command("--mode", "rpc")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in, `{"type": "compact"}`)
		answered := false
		for lines := bufio.NewScanner(out); !answered && lines.Scan(); {
			answered = strings.Contains(lines.Text(), `"command":"compact"`)
			if answered && !strings.Contains(lines.Text(), `"success":true`) {
				t.Errorf("pi does not compact: %s", lines.Text())
			}
		}
		in.Close()
		_ = cmd.Wait() // it ends with its input
	}
	tool := func(name string, input map[string]any) e2e.Call { return e2e.Call{Tool: name, Input: input} }
	a.Read = func(path string) e2e.Call { return tool("read", map[string]any{"path": "$PROJECT/" + path}) }
	a.Edit = func(path string) e2e.Call {
		return tool("edit", map[string]any{"path": "$PROJECT/" + path, "edits": []any{map[string]any{"oldText": "alpha", "newText": "ALPHA"}}})
	}
	a.Shell = func(path string) e2e.Call { return tool("bash", map[string]any{"command": "cat " + path}) }
	a.IsSummary = func(messages []any) bool {
		return strings.HasPrefix(strings.Join(e2e.TextsOf(messages[len(messages)-1]), "\n"), "<conversation>")
	}
	return a
}

func TestConversation(t *testing.T) {
	a := newAgent(t)
	a.Conversation()
	// The record alone gives the window that pi takes from its models.json.
	if out := a.CTXLS("sessions", "--all", "--json"); !strings.Contains(out, fmt.Sprintf(`"windowTokens": %d,`, a.Window)) {
		t.Errorf("without hooks:\n%s", out)
	}
}

func TestKilled(t *testing.T) { newAgent(t).Killed() }
