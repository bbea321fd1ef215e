//go:build linux && e2e

package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/test/e2e"
)

// patience is how long anything that the host is asked may take.
const patience = 3 * time.Minute

// window and output are the limits of the model: the host compacts at 200,000 − 32,000.
const window, output = 200_000, 32_000

// testEnv is a home, a project, a model and a host that serves it.
type testEnv struct {
	*e2e.Sandbox
	model *e2e.Anthropic

	url  string
	host *exec.Cmd
	done chan struct{} // closed when host has ended
	said *lockedBuffer // what it printed
}

type scripts map[string][]e2e.Reply

// newTestEnv makes one. A prompt that contains [[name]] has the model answer by the script of that name, from its first reply
// on, any other by the one without a name; in scripts, paths begin with $PROJECT.
func newTestEnv(t *testing.T, s scripts) *testEnv {
	t.Helper()
	return newTestEnvAt(t, t.TempDir(), s)
}

func newTestEnvAt(t *testing.T, dir string, s scripts) *testEnv {
	t.Helper()
	return newTestEnvOf(e2e.NewSandbox(t, dir), s)
}

func newTestEnvOf(of *e2e.Sandbox, s scripts) *testEnv {
	w := &testEnv{Sandbox: of}
	w.model = e2e.NewAnthropic(w.T, func(body map[string]any) (string, e2e.Reply) { return w.choose(s, body) })
	w.configure("anthropic", "@ai-sdk/anthropic", w.model.URL+"/v1", "")
	w.Env = []string{
		// Each start installs packages for plugins, and waits for it: here it fails at once.
		"npm_config_registry=http://127.0.0.1:9/", "npm_config_fetch_retries=0",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	}
	w.T.Cleanup(func() { w.stop(syscall.SIGKILL) })
	return w
}

// configure writes the host's settings for the project: one provider with one model, named claude-sonnet-4-5. more are further members.
func (w *testEnv) configure(provider, npm, url, more string) {
	w.Write(filepath.Join(w.Project, "opencode.json"), fmt.Sprintf(`{
  "model": %[1]q, "small_model": %[1]q, "autoupdate": false, "share": "disabled", "permission": {"*": "allow"},
  "provider": {%[2]q: {"npm": %[3]q, "options": {"baseURL": %[4]q, "apiKey": "sk-fake-000"},
    "models": {"claude-sonnet-4-5": {"limit": {"context": %[5]d, "output": %[6]d}}}}}%[7]s
}`, provider+"/claude-sonnet-4-5", provider, npm, url, window, output, more))
}

// summary is what the model answers when it is asked for the summary of a compaction. It names one file.
const summary = "## Goal\n- The user asked for some reading; notes.txt was read."

// choose returns the reply to a request, and what kind of request it is.
func (w *testEnv) choose(s scripts, body map[string]any) (string, e2e.Reply) {
	if tools, _ := body["tools"].([]any); len(tools) == 0 {
		if strings.Contains(strings.Join(e2e.TextsOf(body["system"]), "\n")+strings.Join(e2e.TextsOf(body["messages"]), "\n"), "summar") {
			return "summary", e2e.Reply{Text: summary, Tokens: 150_000}
		}
		return "title", e2e.Reply{Text: "A title", Tokens: 300}
	}
	messages, _ := body["messages"].([]any)
	name, reply, ok := e2e.Script(s, messages, "assistant", e2e.TextsOf)
	if !ok {
		return "other", e2e.Reply{Text: "Going on.", Tokens: 20_000}
	}
	reply.Calls = slices.Clone(reply.Calls)
	for i := range reply.Calls {
		reply.Calls[i].Input = w.InProject(reply.Calls[i].Input)
	}
	return name, reply
}

// read is a call of the read tool for a file of the project.
func read(path string) e2e.Call {
	return e2e.Call{Tool: "read", Input: map[string]any{"filePath": "$PROJECT/" + path}}
}

// install has OpenCode run ctxls.
func (w *testEnv) install() {
	w.T.Helper()
	w.CTXLS("install", "opencode")
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// serve starts the host as a server, and waits until it answers.
func (w *testEnv) serve() {
	w.T.Helper()
	port := freePort(w.T)
	w.url = "http://127.0.0.1:" + strconv.Itoa(port)
	w.said = new(lockedBuffer)
	w.host = w.Command(context.Background(), e2e.HostBin(), "serve", "--port", strconv.Itoa(port), "--hostname", "127.0.0.1", "--print-logs")
	w.host.Stdout, w.host.Stderr = w.said, w.said
	if err := w.host.Start(); err != nil {
		w.T.Fatal(err)
	}
	w.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(w.host, w.done)
	w.eventually("the host listens", func() bool { return strings.Contains(w.said.String(), "listening on "+w.url) })
	w.eventually("the host answers", func() bool {
		// The first request waits for all plugins. One that is given up may never be answered, nor those after it.
		impatient := http.Client{Timeout: patience / 2}
		response, err := impatient.Get(w.url + "/session")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// stop ends the host and everything of it with a signal to the host alone.
func (w *testEnv) stop(signal syscall.Signal) {
	if w.host == nil {
		return
	}
	_ = w.host.Process.Signal(signal)
	select {
	case <-w.done:
	case <-time.After(10 * time.Second):
		w.T.Errorf("the host does not end on %v", signal)
		_ = w.host.Process.Kill()
		<-w.done
	}
	w.host = nil
}

func freePort(t *testing.T) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// call asks the host and decodes its answer.
func (w *testEnv) call(method, path string, body any) (answer map[string]any) {
	w.T.Helper()
	raw := w.raw(method, path, body)
	_ = json.Unmarshal(raw, &answer)
	return answer
}

func (w *testEnv) raw(method, path string, body any) []byte {
	w.T.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		w.T.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(data))
	if err != nil {
		w.T.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.T.Fatalf("%s %s: %v\n%s", method, path, err, w.said)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		w.T.Fatalf("%s %s: %s %v: %s\n%s", method, path, response.Status, err, raw, w.said)
	}
	return raw
}

// session makes a session of the host's.
func (w *testEnv) session(title string) string {
	w.T.Helper()
	return w.call("POST", "/session", map[string]any{"title": title})["id"].(string)
}

// prompt runs one turn of a session to its end, and returns the last answer's text.
func (w *testEnv) prompt(session, text string) string {
	w.T.Helper()
	answer := w.call("POST", "/session/"+session+"/message", map[string]any{"parts": []any{map[string]any{"type": "text", "text": text}}})
	return strings.Join(e2e.TextsOf(answer["parts"]), "\n")
}

// summarize has a session compacted, as its user's wish.
func (w *testEnv) summarize(session string) {
	w.T.Helper()
	w.raw("POST", "/session/"+session+"/summarize", map[string]any{"providerID": "anthropic", "modelID": "claude-sonnet-4-5"})
}

// eventually waits until something holds.
func (w *testEnv) eventually(what string, holds func() bool) {
	w.T.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.T.Fatalf("never: %s\n%s", what, w.said)
		}
	}
}

// wantTokens waits until the main gauge of a session shows a reported figure: the host does not wait for events to be told.
func (w *testEnv) wantTokens(session string, want int) {
	w.T.Helper()
	w.eventually(fmt.Sprintf("the gauge of %s says %d", session, want), func() bool {
		s, ok := w.Session(session)
		return ok && s.Usage.Tokens != nil && s.Usage.Exact && *s.Usage.Tokens == want
	})
}

// servers returns the process ids of the servers that the host's process started.
func (w *testEnv) servers() (pids []int) {
	w.T.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", w.host.Process.Pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for field := range strings.FieldsSeq(string(text)) {
			pid, _ := strconv.Atoi(field)
			if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == e2e.CTXLSBin() {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// server returns the one server of the host.
func (w *testEnv) server() int {
	w.T.Helper()
	pids := w.servers()
	if len(pids) != 1 {
		w.T.Fatalf("the host runs %d servers of ctxls, want one: %v", len(pids), pids)
	}
	return pids[0]
}

// lives reports whether there is a process that has not ended.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
