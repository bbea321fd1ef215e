//go:build linux && e2e

package claudecode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/test/e2e"
)

// The API key for Claude Code. It has no value.
const key = "sk-ant-fake-000"

// testEnv is a home, a project and a model.
type testEnv struct {
	*e2e.Sandbox
	model *e2e.Anthropic
}

// newTestEnv makes one with a few files in the project. For a prompt that contains [[name]], the model answers with the
// script of that name, from its first reply on. For other prompts it uses the script without a name. In scripts, paths
// begin with $PROJECT.
func newTestEnv(t *testing.T, scripts map[string][]e2e.Reply) *testEnv {
	t.Parallel()
	return newTestEnvAt(t, t.TempDir(), scripts)
}

func newTestEnvAt(t *testing.T, dir string, scripts map[string][]e2e.Reply) *testEnv {
	return newTestEnvOf(e2e.NewSandbox(t, dir), scripts)
}

func newTestEnvOf(of *e2e.Sandbox, scripts map[string][]e2e.Reply) *testEnv {
	w := &testEnv{Sandbox: of}
	for _, script := range scripts {
		for _, reply := range script {
			for i, c := range reply.Calls {
				reply.Calls[i].Input = w.InProject(c.Input)
			}
		}
	}
	w.model = e2e.NewAnthropic(w.T, func(body map[string]any) (string, e2e.Reply) { return choose(scripts, body) })
	w.Env = []string{
		"CLAUDE_CODE_TMPDIR=" + w.Temp(), // it does not look at TMPDIR
		"ANTHROPIC_BASE_URL=" + w.model.URL, "ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
	w.T.Cleanup(w.nothingElseSaid)
	return w
}

// nothingElseSaid checks that no request contains text of ctxls outside of hook outputs. The exceptions are the working
// context for the summarizer, and the hook outputs that Claude Code itself shows after /compact, also to the model.
func (w *testEnv) nothingElseSaid() {
	for i, r := range w.model.Requests() {
		for _, text := range e2e.TextsOfRequest(r) {
			rest := bare.ReplaceAllString(shown.ReplaceAllString(framed.ReplaceAllString(text, ""), ""), "$3")
			if r.Kind == "summary" {
				rest = strings.Replace(rest, "ctxls: working context\nCurrent file paths in context:\n", "", 1)
			}
			if at := strings.Index(rest, "ctxls"); at >= 0 {
				w.T.Errorf("request %d (%s) holds: …%s…", i, r.Kind, rest[max(0, at-200):min(len(rest), at+200)])
			}
		}
	}
}

func (w *testEnv) settings() string { return filepath.Join(w.Home, ".claude", "settings.json") }

// install configures Claude Code to run ctxls.
func (w *testEnv) install(flags ...string) {
	w.T.Helper()
	w.CTXLS(append([]string{"install", "claude-code"}, flags...)...)
}

// claude starts Claude Code without a terminal.
func (w *testEnv) claude(ctx context.Context, args ...string) (cmd *exec.Cmd, output *bytes.Buffer) {
	args = append([]string{"--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits"}, args...)
	cmd = w.Command(ctx, e2e.HostBin(), args...)
	output = new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, output
	return cmd, output
}

// recorded waits until the transcript of a session contains a text.
func (w *testEnv) recorded(session, text string) {
	for deadline := time.Now().Add(e2e.Patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		found, _ := filepath.Glob(filepath.Join(w.Home, ".claude", "projects", "*", session+".jsonl"))
		if len(found) > 0 {
			if data, _ := os.ReadFile(found[0]); strings.Contains(string(data), text) {
				return
			}
		}
	}
}

// prompt runs one turn of a session to its end and returns Claude Code's output.
func (w *testEnv) prompt(session, prompt string, flags ...string) string {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), e2e.Patience)
	defer cancel()
	// Begun by its first prompt, resumed by the others.
	choice := "--session-id"
	if found, _ := filepath.Glob(filepath.Join(w.Home, ".claude", "projects", "*", session+".jsonl")); len(found) > 0 {
		choice = "--resume"
	}
	cmd, output := w.claude(ctx, append([]string{"-p", prompt, choice, session}, flags...)...)
	if err := cmd.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited || ctx.Err() != nil {
			w.T.Fatalf("claude: %v\n%s", err, output)
		}
		w.T.Logf("claude: %v\n%s", err, output)
	}
	return output.String()
}

// read is a call of the Read tool for a file of the project.
func read(path string) e2e.Call {
	return e2e.Call{Tool: "Read", Input: map[string]any{"file_path": "$PROJECT/" + path}}
}

// recorded is a call of the Bash tool that ends when a transcript has the response of so many tokens that makes it. Claude Code writes
// transcripts some time after it shows what they hold.
func recorded(tokens int) e2e.Call {
	command := fmt.Sprintf(`until grep -qrs '"cache_read_input_tokens":%d,' "$HOME/.claude/projects"; do sleep 0.05; done; echo hello`, e2e.CacheRead(tokens))
	return e2e.Call{Tool: "Bash", Input: map[string]any{"command": command, "description": "Greet"}}
}
