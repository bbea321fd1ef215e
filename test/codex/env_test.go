//go:build linux && e2e

package codex

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// testEnv is a home, a project and a model.
type testEnv struct {
	*e2e.Sandbox
	model *model
}

// newTestEnv makes one with a few files in the project.
func newTestEnv(t *testing.T, scripts map[string][]reply) *testEnv {
	t.Parallel()
	return newTestEnvAt(t, t.TempDir(), scripts)
}

func newTestEnvAt(t *testing.T, dir string, scripts map[string][]reply) *testEnv {
	return newTestEnvOf(e2e.NewSandbox(t, dir), scripts)
}

func newTestEnvOf(of *e2e.Sandbox, scripts map[string][]reply) *testEnv {
	w := &testEnv{Sandbox: of}
	w.model = newModel(w.T, scripts)
	w.Env = []string{"FAKE_KEY=sk-fake-000"}
	w.configure("gpt-5.5")
	w.T.Cleanup(w.nothingElseSaid)
	return w
}

// configure makes Codex use a model of this name. Codex knows that its window is 272,000.
func (w *testEnv) configure(model string) {
	w.Write(filepath.Join(w.codexHome(), "config.toml"), fmt.Sprintf(`model = %q
model_provider = "fake"
model_context_window = 272000
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false # nobody hears it, and Codex waits

[features]
daemon_auto_start = false # it would outlive the test

[model_providers.fake]
name = "fake"
base_url = "%s/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[projects.%q]
trust_level = "trusted"
`, model, w.model.URL, w.Project))
}

func (w *testEnv) codexHome() string { return filepath.Join(w.Home, ".codex") }

func (w *testEnv) hooks() string { return filepath.Join(w.codexHome(), "hooks.json") }

// nothingElseSaid checks that no request contains text of ctxls outside of hook outputs.
func (w *testEnv) nothingElseSaid() {
	for i, r := range w.model.Requests() {
		for _, text := range textsOf(r.Body["input"]) {
			if at := strings.Index(text, "ctxls"); at >= 0 && !isOurs(text) {
				w.T.Errorf("request %d (%s) holds: …%s…", i, r.Kind, text[max(0, at-200):min(len(text), at+200)])
			}
		}
	}
}

// install configures Codex to run ctxls.
func (w *testEnv) install(flags ...string) {
	w.T.Helper()
	w.CTXLS(append([]string{"install", "codex"}, flags...)...)
}

// bypass runs hooks without the user's trust.
const bypass = "--dangerously-bypass-hook-trust"

// exec starts Codex without a terminal.
func (w *testEnv) exec(ctx context.Context, args ...string) (cmd *exec.Cmd, output, problems *bytes.Buffer) {
	cmd = w.Command(ctx, e2e.HostBin(), append([]string{"exec", "--json", "--skip-git-repo-check"}, args...)...)
	output, problems = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, problems
	return cmd, output, problems
}

// A turn is the output of one run of Codex.
type turn struct {
	session string
	answer  string // the model's last message
	items   []string
}

// prompt runs one turn to its end, of the given session or, without one, of a new session.
func (w *testEnv) prompt(session, prompt string, flags ...string) turn {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), e2e.Patience)
	defer cancel()
	if session != "" {
		flags = append([]string{"resume", session}, flags...)
	}
	cmd, output, problems := w.exec(ctx, append(flags, prompt)...)
	if err := cmd.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited || ctx.Err() != nil {
			w.T.Fatalf("codex: %v\n%s\n%s", err, output, problems)
		}
	}
	var done turn
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			ThreadID string `json:"thread_id"`
			Type     string
			Item     struct{ Type, Text, Status, Message string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			w.T.Fatalf("%v: %s", err, lines.Bytes())
		}
		if event.ThreadID != "" {
			done.session = event.ThreadID
		}
		if event.Type == "item.completed" {
			done.items = append(done.items, strings.TrimSpace(fmt.Sprint(event.Item.Type, " ", event.Item.Status, event.Item.Text, event.Item.Message)))
		}
		if event.Item.Type == "agent_message" {
			done.answer = event.Item.Text
		}
	}
	if done.session == "" {
		w.T.Fatalf("codex named no session\n%s\n%s", output, problems)
	}
	return done
}

// run is a call of the tool that runs commands.
func run(command string) call {
	return call{name: "exec_command", arguments: map[string]any{"cmd": command}}
}

// patch is a call of the tool that edits files.
func patch(lines ...string) call {
	return call{name: "apply_patch", text: "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

func (w *testEnv) read(path string) string {
	w.T.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		w.T.Fatal(err)
	}
	return string(text)
}
