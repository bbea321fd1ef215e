//go:build linux && e2e

package qwen

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, e2e.Host{Name: "qwen-code", Program: func(string) string { return filepath.Join("@qwen-code", "qwen-code", "cli-entry.js") }})
}

// base is what Qwen Code needs to know so that it asks nothing, and so that nothing but the conversation asks the model.
const base = `{
  // asked once, kept here
  "security": {"auth": {"selectedType": "openai"}},
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "memory": {"enableManagedAutoMemory": false},
  "$version": 4
}
`

const id = "11111111-2222-4333-8444-555555555555"

func newAgent(t *testing.T) *e2e.Agent {
	t.Parallel()
	a := e2e.NewAgent(t, "qwen-code", 200_000)
	a.File = filepath.Join(a.Home, ".qwen", "settings.json")
	a.Write(a.File, base)
	a.Env = []string{"OPENAI_BASE_URL=" + a.Model.URL + "/v1", "OPENAI_API_KEY=fake-000", "OPENAI_MODEL=mock-model"}
	a.Told = e2e.Told{Reminder: true, Summary: true}
	begun := false
	run := func(text string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
		defer cancel()
		choice := "--session-id"
		if begun {
			choice = "--resume"
		}
		begun = true
		out, err := a.Command(ctx, e2e.Node(), "--no-warnings", e2e.HostBin(), "-p", text, choice, id, "--yolo").CombinedOutput()
		if err != nil {
			t.Errorf("qwen -p %q: %v\n%s", text, err, out)
		}
		return string(out)
	}
	a.Prompt, a.Compact = run, func() { run("/compress") }
	tool := func(name string, input map[string]any) e2e.Call { return e2e.Call{Tool: name, Input: input} }
	a.Read = func(path string) e2e.Call { return tool("read_file", map[string]any{"file_path": "$PROJECT/" + path}) }
	a.Edit = func(path string) e2e.Call {
		return tool("edit", map[string]any{"file_path": "$PROJECT/" + path, "old_string": "alpha", "new_string": "ALPHA"})
	}
	a.Shell = func(path string) e2e.Call {
		return tool("run_shell_command", map[string]any{"command": "cat " + path, "description": "look", "is_background": false})
	}
	a.Recorded = func(tokens int) e2e.Call {
		wait := fmt.Sprintf(`for i in $(seq 600); do grep -rqs '"promptTokenCount":%d[,}]' ~/.qwen/projects && break; sleep 0.1; done`, tokens)
		return tool("run_shell_command", map[string]any{"command": wait, "description": "wait", "is_background": false})
	}
	a.IsSummary = func(messages []any) bool {
		return strings.Contains(strings.Join(e2e.TextsOf(messages[len(messages)-1]), "\n"), "component that summarizes a conversation")
	}
	return a
}

func TestConversation(t *testing.T) { newAgent(t).Conversation() }

func TestKilled(t *testing.T) { newAgent(t).Killed() }
