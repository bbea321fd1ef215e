package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/host/claudecode"
	"github.com/ctxls/ctxls/internal/recall"
	"github.com/ctxls/ctxls/internal/rpc/rpctest"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// noon is the time of every test.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// newService returns a service on an empty store.
func newService(t testing.TB) *core.Service {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return &core.Service{
		Store:     store,
		Adapters:  adaptersOf(0),
		Config:    func(string) settings.Config { return settings.Default() },
		Now:       func() time.Time { return noon },
		DirExists: func(string) bool { return false },
		Meter:     conversation.NewMeter(func(encoding string) (token.Counter, error) { return token.Get(encoding) }, token.ForModel),
		Log:       slog.New(slog.DiscardHandler),
		Historian: func(session.Host) core.Historian { return claudecode.Records{} },
		Index:     recall.New(filepath.Join(t.TempDir(), "recall")),
	}
}

// adaptersOf returns Claude Code's adapter as in a hook that process pid started; 0 is nobody.
func adaptersOf(pid int) map[session.Host]core.Adapter {
	return map[session.Host]core.Adapter{session.HostClaudeCode: claudecode.New(func(name string) string {
		if name == "CLAUDE_PID" && pid > 0 {
			return fmt.Sprint(pid)
		}
		return ""
	})}
}

// peer is a client of a tested server.
type peer struct {
	rpctest.Client
	t   testing.TB
	log *rpctest.Log
}

// connect starts a server and returns its client.
func connect(t testing.TB, options Options) *peer {
	t.Helper()
	p := &peer{t: t, log: new(rpctest.Log)}
	options.Log, options.Version = slog.New(slog.NewTextHandler(p.log, nil)), "1.2.3"
	p.Client = rpctest.Connect(t, New(options).Serve)
	return p
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.In, line+"\n"); err != nil {
		p.t.Fatalf("sending: %v", err)
	}
}

// receive returns the next line of the server.
func (p *peer) receive() string {
	p.t.Helper()
	p.Pipe.SetReadDeadline(time.Now().Add(rpctest.Timeout))
	line, err := p.Out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("waiting for an answer: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// greet shakes hands, with what the client says of itself.
func (p *peer) greet(capabilities string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"test","version":"1"}}}`, capabilities))
	if hello := p.receive(); !strings.Contains(hello, `"name":"ctxls"`) {
		p.t.Fatalf("the greeting is answered %s", hello)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// answer is what a tool said.
type answer struct {
	ID     any `json:"id"`
	Error  any `json:"error"`
	Result struct {
		Content           []struct{ Text string } `json:"content"`
		StructuredContent json.RawMessage         `json:"structuredContent"`
		IsError           bool                    `json:"isError"`
	} `json:"result"`
}

func (a answer) text() string {
	if len(a.Result.Content) != 1 {
		return fmt.Sprintf("%d pieces of content, error %v", len(a.Result.Content), a.Error)
	}
	return a.Result.Content[0].Text
}

func (p *peer) answer() (a answer) {
	p.t.Helper()
	line := p.receive()
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	return a
}

// call calls a tool.
func (p *peer) call(tool, arguments string) answer {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
	return p.answer()
}

func (p *peer) wantEnd(want error) {
	p.t.Helper()
	if err := p.Wait(p.t); err != want {
		p.t.Errorf("Serve returned %v, want %v", err, want)
	}
}

// told has a hook of Claude Code tell something of a session.
func told(t testing.TB, s *core.Service, payload string) {
	t.Helper()
	if _, _, err := s.Hook(t.Context(), session.HostClaudeCode, "", []byte(payload)); err != nil {
		t.Fatal(err)
	}
}

// reported has Claude Code's status line tell how full the window of a session is.
func reported(t testing.TB, s *core.Service, sess, cwd string, tokens int) {
	t.Helper()
	payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"model":{"id":"claude-sonnet-4-6"},"context_window":{"context_window_size":200000,
		"current_usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":7}}}`, sess, cwd, tokens-1)
	if _, _, err := s.Hook(t.Context(), session.HostClaudeCode, "StatusLine", []byte(payload)); err != nil {
		t.Fatal(err)
	}
}
