package test

//lint:file-ignore SA1019 Roots are on their way out of the protocol, but the hosts in use offer them and nothing else.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/conversation"
)

// prompted runs a hook that reports a prompt of a session. If pid is not 0, the hook's host has that process ID.
func prompted(t testing.TB, bin, home, session, cwd string, pid int) {
	t.Helper()
	payload, _ := json.Marshal(map[string]string{"session_id": session, "cwd": cwd, "hook_event_name": "UserPromptSubmit", "prompt": "hello"})
	cmd := exec.Command(filepath.Join(bin, "ctxls"), "hook", "claude-code")
	cmd.Stdin, cmd.Dir, cmd.Env = strings.NewReader(string(payload)), home, environment(home)
	if pid != 0 {
		cmd.Env = append(cmd.Env, fmt.Sprint("CLAUDE_PID=", pid))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestMCP(t *testing.T) {
	bin := buildAll(t)
	for name, test := range map[string]func(t *testing.T, bin, home string){
		"client": testMCPClient, "the same object": testBothDoors, "its host": testMCPKnowsItsHost, "its end": testMCPEnds,
	} {
		t.Run(name, func(t *testing.T) { test(t, bin, t.TempDir()) })
	}
}

// The SDK's own client starts the real program, lists its tools and calls them.
func testMCPClient(t *testing.T, bin, home string) {
	project, other := filepath.Join(home, "project"), filepath.Join(home, "other")
	for _, dir := range []string{project, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	prompted(t, bin, home, "in the project", project, 0)
	prompted(t, bin, home, "elsewhere", other, 0)

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	connect := func(dir string, roots ...*sdk.Root) *sdk.ClientSession {
		t.Helper()
		server := exec.Command(filepath.Join(bin, "ctxls"), "mcp")
		server.Dir, server.Env = dir, environment(home)
		client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		client.AddRoots(roots...)
		session, err := client.Connect(ctx, &sdk.CommandTransport{Command: server}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := session.Close(); err != nil { // including that of the process
				t.Errorf("the server ended with %v", err)
			}
		})
		return session
	}
	call := func(s *sdk.ClientSession, tool string, arguments, into any) (text string) {
		t.Helper()
		result, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(result.StructuredContent)
		if err := json.Unmarshal(raw, into); err != nil && !result.IsError {
			t.Fatal(err)
		}
		return result.Content[0].(*sdk.TextContent).Text
	}

	s := connect(project)
	listed, err := s.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"estimate", "inspect_state", "measure_context", "plan", "recall"} {
		if tool := listed.Tools[i]; len(listed.Tools) != 5 || tool.Name != want || tool.OutputSchema == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("tool %d of %d: %+v", i, len(listed.Tools), tool)
		}
	}
	var m conversation.Measurement
	if text := call(s, "measure_context", map[string]any{"text": "hello world"}, &m); m.Tokens != 2 || !strings.HasPrefix(text, "2 tokens (cl100k_base, exact)") {
		t.Errorf("%+v, %q", m, text)
	}
	if text := call(s, "measure_context", map[string]any{"messages": 5}, &m); text != "messages: expected an array, got a number" {
		t.Errorf("%q", text)
	}
	for _, test := range []struct {
		session *sdk.ClientSession
		want    string
	}{
		{s, "in the project"},
		{connect(other), "elsewhere"},
		{connect(other, &sdk.Root{URI: "file://" + filepath.ToSlash(project)}), "in the project"},
	} {
		var in core.Inspection
		text := call(test.session, "inspect_state", nil, &in)
		if in.Session == nil || in.Session.SessionID != test.want || len(in.Sessions) != 2 || !strings.Contains(text, "This session: claude-code "+test.want) {
			t.Errorf("want %q: %+v\n%s", test.want, in.Session, text)
		}
	}
}

// MCP's inspect_state and the server's state/inspect return the same object.
func testBothDoors(t *testing.T, bin, home string) {
	prompted(t, bin, home, "s1", home, 0)
	ask := func(args []string, input string) (raw json.RawMessage) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "ctxls"), args...)
		cmd.Stdin, cmd.Dir, cmd.Env = strings.NewReader(input), home, environment(home)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			var m struct {
				ID     int
				Result json.RawMessage
			}
			if json.Unmarshal([]byte(line), &m) == nil && m.ID == 2 {
				return m.Result
			}
		}
		t.Fatalf("no answer in %s", out)
		return nil
	}
	var tool struct{ StructuredContent json.RawMessage }
	if err := json.Unmarshal(ask([]string{"mcp"}, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inspect_state"}}
`), &tool); err != nil {
		t.Fatal(err)
	}
	served := ask([]string{"serve"}, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"workspaceFolders":[{"uri":"file://`+filepath.ToSlash(home)+`","name":"h"}]}}
{"jsonrpc":"2.0","id":2,"method":"state/inspect"}
`)
	if string(tool.StructuredContent) != string(served) {
		t.Errorf("mcp says\n%s\nserve says\n%s", tool.StructuredContent, served)
	}
}

// The host's process identifies a session, in any working directory of the server.
func testMCPKnowsItsHost(t *testing.T, bin, home string) {
	prompted(t, bin, home, "mine", "/somewhere", os.Getpid())
	prompted(t, bin, home, "another's", home, 0)
	p := startMCP(t, bin, home)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	p.receive(t)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inspect_state"}}`)
	if line := p.receive(t); !strings.Contains(line, "This session: claude-code mine") {
		t.Error(line)
	}
}

// The program ends at once with status 0 when its input ends. It also ends when its parent dies, though another process
// keeps its input open.
func testMCPEnds(t *testing.T, bin, home string) {
	p := startMCP(t, bin, home)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	p.receive(t)
	start := time.Now()
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v to end", took)
	}

	if runtime.GOOS == "windows" {
		t.Skip("there is no shell whose death could be arranged in the same way")
	}
	r, w, err := os.Pipe() // our end of the pipe, kept open
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	// The shell is the parent; it waits for the server, whose end it would tell, until it is killed.
	shell := exec.Command("sh", "-c", `"$0" mcp <&3 & echo $!; wait; echo ended`, filepath.Join(bin, "ctxls"))
	shell.Dir, shell.Env, shell.ExtraFiles = home, environment(home), []*os.File{r}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1`) {
		t.Fatalf("%q, %v", line, err)
	}
	shell.Process.Kill()
	ended := make(chan struct{})
	go func() {
		lines.ReadString('\n') // the server has the other end
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the server outlives its parent")
	}
	shell.Wait()
}

// mcpProcess is a server in its own process.
type mcpProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startMCP(t testing.TB, bin, home string) *mcpProcess {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "ctxls"), "mcp")
	cmd.Dir, cmd.Env = home, environment(home)
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
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &mcpProcess{cmd, in, bufio.NewReader(out)}
}

func (p *mcpProcess) send(line string) { io.WriteString(p.in, line+"\n") }

func (p *mcpProcess) receive(t testing.TB) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}
