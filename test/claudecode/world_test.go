//go:build linux && e2e

package claudecode

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/test/e2e"
)

// The key that Claude Code is given. It opens nothing.
const key = "sk-ant-fake-000"

// patience is how long one run of Claude Code may take.
const patience = 60 * time.Second

// world is a home, a project and a model.
type world struct {
	*e2e.World
	model *model
}

// newWorld makes a world with a few files in the project. In scripts, paths begin with $PROJECT.
func newWorld(t *testing.T, scripts map[string][]reply) *world {
	t.Parallel()
	return newWorldAt(t, t.TempDir(), scripts)
}

func newWorldAt(t *testing.T, dir string, scripts map[string][]reply) *world {
	return newWorldOf(e2e.NewWorld(t, dir), scripts)
}

func newWorldOf(of *e2e.World, scripts map[string][]reply) *world {
	w := &world{World: of}
	for _, script := range scripts {
		for _, reply := range script {
			for _, c := range reply.calls {
				for name, value := range c.input {
					if s, ok := value.(string); ok {
						c.input[name] = strings.ReplaceAll(s, "$PROJECT", w.Project)
					}
				}
			}
		}
	}
	w.model = newModel(w.T, scripts)
	w.Env = []string{
		"CLAUDE_CODE_TMPDIR=" + w.Temp(), // it does not look at TMPDIR
		"ANTHROPIC_BASE_URL=" + w.model.server.URL, "ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
	}
	w.T.Cleanup(w.nothingElseSaid)
	return w
}

// nothingElseSaid makes sure that no request holds a word of ctxls outside of what hooks say. Aside are the working context for the
// model that writes a summary, and what Claude Code itself shows of the hooks after /compact, to the model too.
func (w *world) nothingElseSaid() {
	for i, r := range w.model.requests {
		for _, text := range r.texts() {
			rest := bare.ReplaceAllString(shown.ReplaceAllString(framed.ReplaceAllString(text, ""), ""), "$3")
			if r.kind == "summary" {
				rest = strings.Replace(rest, "ctxls: working context\nCurrent file paths in context:\n", "", 1)
			}
			if at := strings.Index(rest, "ctxls"); at >= 0 {
				w.T.Errorf("request %d (%s) holds: …%s…", i, r.kind, rest[max(0, at-200):min(len(rest), at+200)])
			}
		}
	}
}

func (w *world) settings() string { return filepath.Join(w.Home, ".claude", "settings.json") }

// install has Claude Code run ctxls.
func (w *world) install(flags ...string) {
	w.T.Helper()
	w.CTXLS(append([]string{"install", "claude-code"}, flags...)...)
}

// claude starts Claude Code without a terminal.
func (w *world) claude(ctx context.Context, args ...string) (cmd *exec.Cmd, output *bytes.Buffer) {
	args = append([]string{"--model", "claude-sonnet-4-6", "--permission-mode", "acceptEdits"}, args...)
	cmd = w.Command(ctx, e2e.HostBin(), args...)
	output = new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, output
	return cmd, output
}

// prompt runs one turn of a session to its end and returns what Claude Code printed.
func (w *world) prompt(session, prompt string, flags ...string) string {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), patience)
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
func read(path string) call {
	return call{"Read", map[string]any{"file_path": "$PROJECT/" + path}}
}
