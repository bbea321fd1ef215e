package rpc

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/host/claudecode"
	"github.com/ctxls/ctxls/internal/rpc/transport"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// shared returns a separate service on the store at path, as in a separate process.
func shared(t testing.TB, path string) *core.Service {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	loader := config.NewLoader(config.Sources{})
	return &core.Service{
		Store:     store,
		Adapters:  map[session.Host]core.Adapter{session.HostClaudeCode: claudecode.New(nil)},
		Config:    func(string) settings.Config { cfg, _ := loader.For(""); return cfg },
		Now:       time.Now,
		DirExists: func(string) bool { return false },
		Log:       slog.New(slog.DiscardHandler),
	}
}

// watcher connects a client that subscribes to the sessions of its folders, or to "all".
func watcher(t testing.TB, service *core.Service, folders ...string) *peer {
	t.Helper()
	p := connect(t, transport.Header, Options{Service: service})
	p.greet(folders...)
	return p
}

func (p *peer) greet(folders ...string) {
	p.t.Helper()
	var params InitializeParams
	for _, folder := range folders {
		if folder == "all" {
			params.InitializationOptions.Sessions = "all"
			continue
		}
		params.WorkspaceFolders = append(params.WorkspaceFolders, WorkspaceFolder{URI: "file://" + folder})
	}
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":%s}`, raw))
	if r := p.reply(); r.Error != nil {
		p.t.Fatalf("initialize: %+v", r.Error)
	}
	p.send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
}

// prompt returns an event of a session in a directory, as a hook reports it.
func prompt(t testing.TB, s *core.Service, session, cwd, text string) {
	t.Helper()
	hook(t, s, session, cwd, "UserPromptSubmit", text)
}

func hook(t testing.TB, s *core.Service, sess, cwd, event, text string) {
	t.Helper()
	payload, _ := json.Marshal(map[string]string{"session_id": sess, "cwd": cwd, "hook_event_name": event, "prompt": text, "title": text})
	if _, _, err := s.Hook(t.Context(), session.HostClaudeCode, "", payload); err != nil {
		t.Fatal(err)
	}
}

// push is one notification: its subject and its params.
type push struct {
	Method string `json:"method"`
	Params struct {
		Session   *core.SessionView `json:"session"`
		SessionID string            `json:"sessionId"`
		fleet.Alert
	} `json:"params"`
}

func (p *peer) push() push {
	p.t.Helper()
	text, err := p.receive()
	if err != nil {
		p.t.Fatalf("waiting to be told: %v", err)
	}
	var n push
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		p.t.Fatalf("%q: %v", text, err)
	}
	return n
}

// String returns a short form of a notification: "changed s1 active", "removed s1", "alert 0.5".
func (n push) String() string {
	switch n.Method {
	case "session/changed":
		return fmt.Sprintf("changed %s %s", n.Params.Session.SessionID, n.Params.Session.State)
	case "session/removed":
		return "removed " + n.Params.SessionID
	case "metrics/thresholdExceeded":
		return fmt.Sprintf("alert %v of %d", n.Params.Rate, n.Params.Tasks)
	}
	return n.Method
}

// wantPushes checks for exactly these notifications, in this order.
func (p *peer) wantPushes(want ...string) {
	p.t.Helper()
	for _, w := range want {
		if got := p.push().String(); got != w {
			p.t.Fatalf("told %q, want %q", got, w)
		}
	}
}

// stored returns the session as it is stored now, as JSON.
func stored(t testing.TB, s *core.Service, sess string) string {
	t.Helper()
	view, err := s.Session(t.Context(), session.Key{SessionID: sess})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(view)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestWhatAnotherWriterChangesIsPushed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	writer := shared(t, path)
	prompt(t, writer, "before", "/home/me/a", "hello")
	prompt(t, writer, "ended before", "/home/me/a", "hello")
	hook(t, writer, "ended before", "/home/me/a", "SessionEnd", "")

	p := watcher(t, shared(t, path), "/home/me/a")
	p.wantPushes("changed before active") // and nothing of ended sessions

	for i := range 10 {
		prompt(t, writer, "s1", "/home/me/a/sub", strings.Repeat("x", i))
		n := p.push()
		raw, _ := json.Marshal(n.Params.Session)
		if diff := cmp.Diff(stored(t, writer, "s1"), string(raw)); diff != "" {
			t.Fatalf("%v (-stored +told):\n%s", n, diff)
		}
	}
	hook(t, writer, "s1", "/home/me/a/sub", "SessionEnd", "")
	p.wantPushes("changed s1 ended")
	if _, err := writer.Delete(t.Context(), session.Key{SessionID: "s1"}); err != nil {
		t.Fatal(err)
	}
	p.wantPushes("removed s1")
}

// If one session proves its model's window, clients are notified of every other session of that model, though none of
// them was saved.
func TestALearnedWindowIsPushed(t *testing.T) {
	dir := t.TempDir()
	writer := shared(t, filepath.Join(dir, "state.db"))
	respond := func(sess string, tokens int) {
		t.Helper()
		transcript := filepath.Join(dir, sess+".jsonl")
		f, err := os.OpenFile(transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(f, `{"type":"assistant","timestamp":%q,"message":{"id":"m%d","model":"claude-opus-4-6","usage":{"input_tokens":%d,"output_tokens":1},"content":[{"type":"text","text":"done"}]},"requestedModel":"claude-opus-4-6"}`+"\n",
			time.Now().UTC().Format(time.RFC3339Nano), tokens, tokens)
		f.Close()
		payload, _ := json.Marshal(map[string]string{"session_id": sess, "cwd": "/home/me", "hook_event_name": "Stop", "transcript_path": transcript})
		if _, _, err := writer.Hook(t.Context(), session.HostClaudeCode, "", payload); err != nil {
			t.Fatal(err)
		}
	}
	respond("s1", 90_000)
	p := watcher(t, shared(t, filepath.Join(dir, "state.db")), "all")
	p.wantPushes("changed s1 active")
	respond("s2", 300_000)
	told := map[string]int{}
	for len(told) < 2 {
		s := p.push().Params.Session
		told[s.SessionID] = s.Usage.WindowTokens
	}
	if told["s1"] <= 200_000 || told["s1"] != told["s2"] {
		t.Errorf("told of windows %v", told)
	}
}

func TestOnlySessionsOfTheFoldersArePushed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	writer := shared(t, path)
	a, all, everywhere := watcher(t, shared(t, path), "/home/me/a"), watcher(t, shared(t, path), "/home/me/a", "all"), watcher(t, shared(t, path))
	for _, cwd := range []string{"/home/me/ab", "/home/me", "/home/me/a/../b", ""} {
		prompt(t, writer, "not in a: "+cwd, cwd, "hello")
		all.wantPushes("changed not in a: " + cwd + " active")
		everywhere.wantPushes("changed not in a: " + cwd + " active")
	}
	prompt(t, writer, "in a", "/home/me/a", "hello")
	prompt(t, writer, "below a", "/home/me/a/x/y", "hello")
	for _, p := range []*peer{a, all, everywhere} {
		p.wantPushes("changed in a active", "changed below a active")
	}
	// A known session is reported wherever it moves. Its removal is reported too, and no other removal.
	prompt(t, writer, "in a", "/tmp", "hello again")
	a.wantPushes("changed in a active")
	for _, id := range []string{"not in a: /home/me", "in a"} {
		if _, err := writer.Delete(t.Context(), session.Key{SessionID: id}); err != nil {
			t.Fatal(err)
		}
	}
	a.wantPushes("removed in a")
	// If a folder is added, its sessions are reported.
	a.send(`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"file:///home/me/ab","name":"ab"}],"removed":[{"uri":"file:///home/me/a","name":"a"}]}}}`)
	a.wantPushes("changed not in a: /home/me/ab active")
	prompt(t, writer, "below a", "/home/me/a/x/y", "hello")
	prompt(t, writer, "not in a: /home/me/ab", "/home/me/ab", "goodbye")
	a.wantPushes("changed not in a: /home/me/ab active")
}

// An editor names a folder as the user opened it, possibly through a link. Agents name the target, and some hosts name
// the link.
func TestAFolderThatIsALink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Mkdir(filepath.Join(dir, "project"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("project", link); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	path := filepath.Join(t.TempDir(), "state.db")
	writer, service := shared(t, path), shared(t, path)
	service.RealPath = filepath.EvalSymlinks
	p := watcher(t, service, filepath.ToSlash(link))
	prompt(t, writer, "beside it", filepath.Join(dir, "project2"), "hello")
	prompt(t, writer, "real", filepath.Join(dir, "project", "web"), "hello")
	p.wantPushes("changed real active")
	prompt(t, writer, "linked", link, "hello")
	p.wantPushes("changed linked active")
	for _, params := range []string{`{}`, fmt.Sprintf(`{"cwd":%q}`, link)} {
		p.send(`{"jsonrpc":"2.0","id":7,"method":"session/list","params":` + params + `}`)
		if got, err := p.receive(); err != nil || strings.Count(got, `"sessionId"`) != 2 {
			t.Errorf("%s: not just the two are listed: %s, %v", params, got, err)
		}
	}
	prompt(t, writer, "real", filepath.Join(dir, "project", "web"), "and more")
	p.wantPushes("changed real active")
	p.send(`{"jsonrpc":"2.0","id":8,"method":"state/inspect"}`)
	if got, err := p.receive(); err != nil || !strings.Contains(got, `"session":{"host":"claude-code","sessionId":"real"`) {
		t.Error(got, err)
	}
	// A folder is removed by the name under which it was added.
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"removed":[{"uri":%q,"name":""}],"added":[{"uri":"file:///nowhere","name":""}]}}}`, "file://"+filepath.ToSlash(link)))
	prompt(t, writer, "real", filepath.Join(dir, "project", "web"), "again")
	prompt(t, writer, "elsewhere", "/nowhere", "hello")
	p.wantPushes("changed elsewhere active")
}

func TestAnAlertIsPushedOnceToEveryClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	writer := shared(t, path)
	one, two := watcher(t, shared(t, path), "/home/me/a"), watcher(t, shared(t, path), "/home/me/b")
	prompt(t, writer, "a", "/home/me/a", "hello")
	prompt(t, writer, "b", "/home/me/b", "hello")
	one.wantPushes("changed a active")
	two.wantPushes("changed b active")
	for i, tokens := range []int{1, 250_000, 300_000, 1, 1} {
		if _, _, err := writer.RecordTask(t.Context(), fmt.Sprint("task ", i), tokens); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			one.wantPushes("alert 0.5 of 2")
			two.wantPushes("alert 0.5 of 2")
		}
	}
	prompt(t, writer, "a", "/home/me/a", "and on")
	prompt(t, writer, "b", "/home/me/b", "and on")
	one.wantPushes("changed a active") // and no second alert before this one
	two.wantPushes("changed b active")
	// A client that connects later is not notified of past alerts.
	late := watcher(t, shared(t, path), "/home/me/a")
	late.wantPushes("changed a active")
	prompt(t, writer, "a", "/home/me/a", "and on and on")
	late.wantPushes("changed a active")
}

func TestSilenceAndAHostThatIsGoneArePushed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	writer, service := shared(t, path), shared(t, path)
	host := start(t, "sleeper")
	writer.Adapters = map[session.Host]core.Adapter{session.HostClaudeCode: claudecode.New(func(name string) string {
		if name == "CLAUDE_PID" {
			return fmt.Sprint(host.cmd.Process.Pid)
		}
		return ""
	})}
	service.ProcessLives = ProcessLives
	prompt(t, writer, "hosted", "/home/me/a", "hello")
	writer.Adapters = service.Adapters
	writer.Now = func() time.Time { return time.Now().Add(-session.IdleAfter + time.Second) }
	prompt(t, writer, "silent", "/home/me/a", "hello")

	p := watcher(t, service, "/home/me/a")
	p.wantPushes("changed hosted active", "changed silent active", "changed silent idle")
	host.in.Close()
	host.wantExit(t)
	p.wantPushes("changed hosted idle")
}

func TestSettingsThatChangeArePushed(t *testing.T) {
	service, configure := newConfiguredService(t)
	p := connect(t, transport.Header, Options{Service: service, Configure: configure})
	prompt(t, service, "s1", "/home/me/a", "hello")
	p.greet("/home/me/a")
	if n := p.push(); n.Params.Session.Usage.WindowTokens != 200_000 {
		t.Fatalf("%+v", n)
	}
	p.send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":{"window":{"defaultTokens":128000,"overrides":{"*":128000}}}}}`)
	if n := p.push(); n.Params.Session.Usage.WindowTokens != 128_000 {
		t.Fatalf("%+v", n)
	}
}
