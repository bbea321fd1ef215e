//go:build linux && e2e

package gemini

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// The key that Gemini CLI is given. It opens nothing.
const key = "fake-000"

// base is what Gemini CLI needs to know so that it asks nothing.
const base = `{
  // asked once, kept here
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "skills": {"disabled": ["antigravity-support"]}, // with two, the host lists them in either order
  "telemetry": {"enabled": false}
}
`

// testEnv is a home, a project and a model.
type testEnv struct {
	*e2e.Sandbox
	model *model
	begun map[string]bool // sessions
}

// newTestEnv makes one with a few files in the project. In scripts, paths begin with $PROJECT.
func newTestEnv(t *testing.T, scripts map[string][]reply) *testEnv {
	t.Parallel()
	return newTestEnvAt(t, t.TempDir(), scripts)
}

func newTestEnvAt(t *testing.T, dir string, scripts map[string][]reply) *testEnv {
	return newTestEnvOf(e2e.NewSandbox(t, dir), scripts)
}

func newTestEnvOf(of *e2e.Sandbox, scripts map[string][]reply) *testEnv {
	w := &testEnv{Sandbox: of, begun: map[string]bool{}}
	for _, script := range scripts {
		for _, reply := range script {
			for i, c := range reply.calls {
				reply.calls[i].args = w.InProject(c.args)
			}
		}
	}
	w.model = newModel(w.T, scripts)
	w.Env = []string{"GOOGLE_GEMINI_BASE_URL=" + w.model.URL, "GEMINI_API_KEY=" + key}
	w.Write(w.settings(), base)
	w.Write(filepath.Join(w.Home, ".gemini", "trustedFolders.json"), `{"`+w.Project+`": "TRUST_FOLDER"}`)
	w.T.Cleanup(w.nothingElseSaid)
	return w
}

// nothingElseSaid makes sure that no request holds a word of ctxls outside of what hooks say.
func (w *testEnv) nothingElseSaid() {
	installed, _, _ := strings.Cut(e2e.HostBin(), "node_modules") // the cache is named after ctxls
	for i, r := range w.model.Requests() {
		for _, text := range texts(r) {
			rest := strings.ReplaceAll(framed.ReplaceAllString(text, ""), installed, "")
			rest = strings.ReplaceAll(rest, "├───.ctxls-made\n", "") // the host lists the project, with what installing made in it
			if at := strings.Index(rest, "ctxls"); at >= 0 {
				w.T.Errorf("request %d (%s) holds: …%s…", i, r.Kind, rest[max(0, at-200):min(len(rest), at+200)])
			}
		}
	}
}

func (w *testEnv) settings() string { return filepath.Join(w.Home, ".gemini", "settings.json") }

// install has Gemini CLI run ctxls.
func (w *testEnv) install(flags ...string) {
	w.T.Helper()
	w.CTXLS(append([]string{"install", "gemini-cli"}, flags...)...)
}

// gemini starts Gemini CLI without a terminal. What it answers and what it warns of are apart.
func (w *testEnv) gemini(ctx context.Context, args ...string) (cmd *exec.Cmd, output, warnings *bytes.Buffer) {
	node, err := exec.LookPath("node")
	if err != nil {
		w.T.Fatal(err)
	}
	args = append([]string{"--no-warnings", e2e.HostBin(), "--model", "gemini-2.5-pro", "--yolo"}, args...)
	cmd = w.Command(ctx, node, args...)
	output, warnings = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, warnings
	return cmd, output, warnings
}

// prompt runs one turn of a session to its end and returns what Gemini CLI answered and what it warned of.
func (w *testEnv) prompt(session, prompt string) (answer, warnings string) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), e2e.Patience)
	defer cancel()
	choice := "--session-id"
	if w.begun[session] {
		choice = "--resume"
	}
	w.begun[session] = true
	cmd, output, problems := w.gemini(ctx, "-p", prompt, choice, session)
	if err := cmd.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited || ctx.Err() != nil {
			w.T.Fatalf("gemini: %v\n%s%s", err, output, problems)
		}
	}
	return output.String(), problems.String()
}

// read is a call of the tool that reads a file of the project.
func read(path string) call {
	return call{"read_file", map[string]any{"file_path": "$PROJECT/" + path}}
}
