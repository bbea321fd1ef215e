//go:build linux && fleet

package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/team/push"
	"github.com/ctxls/ctxls/internal/team/teamtest"
)

// recorder stands between a client and a server of loopback, and keeps all that passes in either direction.
type recorder struct {
	at  string
	mu  sync.Mutex
	all bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.Write(b)
}

func (r *recorder) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.String()
}

func record(t *testing.T, server string) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &recorder{at: l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				up, err := net.DialTimeout("tcp", server, 5*time.Second)
				if err != nil {
					return
				}
				defer up.Close()
				go io.Copy(io.MultiWriter(up, r), client) //nolint:errcheck // either side may end it
				io.Copy(io.MultiWriter(client, r), up)    //nolint:errcheck
			}()
		}
	}()
	return r
}

// strings4 returns every string in JSON, of four characters or more, with the words of which it is made.
func strings4(v any, found map[string]bool) {
	switch v := v.(type) {
	case string:
		for _, text := range append(strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \n\t/\"", r) }), v) {
			if len(text) >= 4 {
				found[text] = true
			}
		}
	case []any:
		for _, e := range v {
			strings4(e, found)
		}
	case map[string]any:
		for _, e := range v {
			strings4(e, found)
		}
	}
}

// What goes over the wire holds no string of any transcript, path, title or prompt: a real conversation is fed to the real hook, and what the pusher
// says to the database and to a collector is searched for every string in it.
func TestNothingButFiguresLeavesTheMachine(t *testing.T) {
	w := newTestEnv(t)
	home := t.TempDir()
	cwd := filepath.Join(home, "zanzibar-payroll")
	if err := os.MkdirAll(cwd, 0o755); err != nil {
		t.Fatal(err)
	}
	transcript := filepath.Join(home, "hippopotamus.jsonl")
	now := time.Now().UTC().Format(time.RFC3339Nano)
	lines := []string{
		`{"type":"user","uuid":"uuid-quagga-1","sessionId":"session-ocelot-77","cwd":"` + cwd + `","message":{"role":"user","content":"please rename salaryOfEmployee, my key is sk-verysecret-123"}}`,
		`{"type":"assistant","uuid":"uuid-quagga-2","parentUuid":"uuid-quagga-1","sessionId":"session-ocelot-77","cwd":"` + cwd + `","timestamp":"` + now + `","requestId":"req-narwhal","message":{"id":"msg-axolotl","role":"assistant","model":"claude-sonnet-4-6","stop_reason":"end_turn","content":[{"type":"text","text":"Renamed salaryOfEmployee throughout ledger-private.go"}],"usage":{"input_tokens":12,"cache_creation_input_tokens":900,"cache_read_input_tokens":143000,"output_tokens":77}}}`,
	}
	if err := os.WriteFile(transcript, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	hook := func(payload map[string]any) {
		payload["session_id"], payload["cwd"], payload["transcript_path"] = "session-ocelot-77", cwd, transcript
		text, _ := json.Marshal(payload)
		cmd := exec.Command(filepath.Join(bin, "ctxls"), "hook", "claude-code")
		cmd.Env, cmd.Stdin = []string{"HOME=" + home}, bytes.NewReader(text)
		output(t, cmd)
		strings4(payload, found)
	}
	hook(map[string]any{"hook_event_name": "SessionStart", "source": "startup"})
	hook(map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "look at @ledger-private.go for gorgonzola"})
	hook(map[string]any{"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": map[string]any{"file_path": cwd + "/ledger-private.go"}, "tool_response": map[string]any{"content": "func salaryOfEmployee()"}})
	hook(map[string]any{"hook_event_name": "Stop"})
	for _, line := range lines {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		strings4(v, found)
	}
	// Strings that a caller of the generic host invents are text too.
	serve := exec.Command(filepath.Join(bin, "ctxls"), "serve")
	serve.Env = []string{"HOME=" + home}
	serve.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"metrics/record","params":{"taskId":"refactor-gorgonzola-module","tokens":1234}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"hook/handle","params":{"host":"generic","payload":{"event":"usage","sessionId":"merger-with-acme","title":"the merger","cwd":"` + cwd + `","model":"gpt-5","inputTokens":5000}}}` + "\n")
	output(t, serve)
	for _, text := range []string{"refactor-gorgonzola-module", "gorgonzola", "merger-with-acme", "the merger", "hippopotamus", "zanzibar-payroll", home} {
		found[text] = true
	}

	database := record(t, fmt.Sprintf("127.0.0.1:%d", w.Port))
	_, port, _ := net.SplitHostPort(database.at)
	cmd := w.command("alice", "push")
	cmd.Env = append(cmd.Env, "HOME="+home, "PGPORT="+port)
	output(t, cmd)
	_, otlp, _ := teamtest.StartCollector(t)
	collector := record(t, strings.TrimPrefix(otlp, "http://"))
	for range 2 {
		cmd = w.command("alice", "push", "--otlp=http://"+collector.at)
		cmd.Env = append(cmd.Env, "HOME="+home, "OTEL_EXPORTER_OTLP_COMPRESSION=none")
		output(t, cmd)
	}
	for name, wire := range map[string]string{"database": database.heard(), "collector": collector.heard()} {
		if !strings.Contains(wire, "claude-sonnet-4-6") {
			t.Fatalf("nothing was sent to the %s", name)
		}
		for text := range found {
			switch text {
			// The model's name, the instant of its answer, and words that stand for something else on the wire.
			case "claude-sonnet-4-6", now, "assistant", "text", "user", "usage":
				continue
			}
			if strings.Contains(wire, text) {
				t.Errorf("the %s is told %q", name, text)
			}
		}
	}
	if len(found) < 40 {
		t.Errorf("%d strings were looked for", len(found))
	}
	for projects, want := range map[push.Projects]string{push.ProjectName: "zanzibar-payroll", push.ProjectNone: ""} {
		if got := (push.Redaction{Team: "blue", Projects: projects}).Project(cwd); got != want {
			t.Errorf("--projects %s sends %q, want %q", projects, got, want)
		}
	}
}
