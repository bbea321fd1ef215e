package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/rpc/rpctest"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

const (
	codeOfTooLarge  = -32013
	codeOfCancelled = -32800
)

func TestDuplicateIDs(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	for _, name := range []string{"first", "second"} {
		p.send(`{"jsonrpc":"2.0","id":7,"method":"test/wait","params":{"name":"` + name + `"}}`)
		<-p.probe.started
	}
	p.probe.release <- "first"
	p.want(`{"jsonrpc":"2.0","id":7,"result":"first"}`)
	// The other request of that ID can still be cancelled.
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`)
	if r := p.reply(); r.ID != 7.0 || r.Error.Code != codeOfCancelled {
		t.Fatalf("got %+v", r)
	}

	// If two requests of one ID run, both are cancelled.
	for _, name := range []string{"third", "fourth"} {
		p.send(`{"jsonrpc":"2.0","id":7,"method":"test/wait","params":{"name":"` + name + `"}}`)
		<-p.probe.started
	}
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`)
	for range 2 {
		if r := p.reply(); r.ID != 7.0 || r.Error.Code != codeOfCancelled {
			t.Fatalf("got %+v", r)
		}
	}
}

// The number 7 and the string "7" are different IDs.
func TestIDsOfBothTypes(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":7,"method":"test/wait","params":{"name":"number"}}`)
	p.send(`{"jsonrpc":"2.0","id":"7","method":"test/wait","params":{"name":"text"}}`)
	<-p.probe.started
	<-p.probe.started
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"7"}}`)
	if r := p.reply(); r.ID != "7" || r.Error.Code != codeOfCancelled {
		t.Fatalf("got %+v", r)
	}
	p.probe.release <- "number"
	p.want(`{"jsonrpc":"2.0","id":7,"result":"number"}`)
}

func TestOrderWithinASession(t *testing.T) {
	for _, batch := range []bool{false, true} {
		t.Run(fmt.Sprintf("batch=%v", batch), func(t *testing.T) {
			p := connect(t, transport.Line, Options{})
			const sessions, each = 5, 40
			want := make(map[string][]string)
			var messages []string
			for i := range each {
				for s := range sessions {
					id, name := fmt.Sprint("s", s), fmt.Sprintf("s%d/%d", s, i)
					want[id] = append(want[id], name)
					messages = append(messages, fmt.Sprintf(
						`{"jsonrpc":"2.0","id":%q,"method":"test/note","params":{"sessionId":%q,"name":%q}}`, name, id, name))
				}
			}
			frames := len(messages)
			if batch {
				p.send("[" + strings.Join(messages, ",") + "]")
				frames = 1
			} else {
				p.send(strings.Join(messages, "\n"))
			}
			for range frames {
				if _, err := p.receive(); err != nil {
					t.Fatal(err)
				}
			}
			got := make(map[string][]string)
			for _, name := range p.probe.order {
				session, _, _ := strings.Cut(name, "/")
				got[session] = append(got[session], name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("order within the sessions (-sent +ran):\n%s", diff)
			}
		})
	}
}

// A stuck session blocks neither other sessions nor requests without a session.
func TestSessionsGoOnSideBySide(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"test/note","params":{"sessionId":"s1","name":"stuck","wait":true}}`)
	<-p.probe.started
	for i := range 50 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"test/note","params":{"sessionId":"s1","name":"behind"}}`, 100+i))
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"test/note","params":{"sessionId":"s2","name":"free"}}`)
	p.want(`{"jsonrpc":"2.0","id":2,"result":"free"}`)
	p.send(`{"jsonrpc":"2.0","id":3,"method":"test/echo","params":{}}`)
	p.want(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	p.probe.release <- "stuck"
	p.want(`{"jsonrpc":"2.0","id":1,"result":"stuck"}`)
}

func TestPanicIsLoggedInOneLine(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"test/panic"}`)
	if r := p.reply(); r.Error.Code != -32603 || r.Error.Message != "internal error" {
		t.Errorf("got %+v", r)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"method":"test/fail","params":{"name":"plain"}}`)
	if r := p.reply(); r.Error.Message != "internal error" {
		t.Errorf("got %+v", r)
	}
	lines := strings.Split(strings.TrimSpace(p.log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "boom in /home/me/secret.go") || !strings.Contains(lines[1], "state.db") {
		t.Errorf("want one line of log for each failure, with its cause, got:\n%s", strings.Join(lines, "\n"))
	}
}

func TestEndOfInputLosesNoReply(t *testing.T) {
	for _, framing := range []transport.Framing{transport.Line, transport.Header} {
		for range 20 {
			p := connect(t, framing, Options{})
			const owed = 600
			go func() {
				var all strings.Builder
				for i := range owed / 3 {
					all.WriteString(framed(framing, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"test/echo","params":[%d]}`, i, i)))
					all.WriteString(framed(framing, fmt.Sprintf(`{"jsonrpc":"2.0","id":"n%d","method":"test/note","params":{"sessionId":"s%d"}}`, i, i%3)))
					all.WriteString(framed(framing, fmt.Sprintf(`[{"jsonrpc":"2.0","id":"b%d","method":"test/echo"},{"jsonrpc":"2.0","id":"c%d","method":"test/echo"}]`, i, i)))
				}
				io.WriteString(p.In, all.String())
				p.In.Close()
			}()
			for i := range owed {
				if _, err := p.receive(); err != nil {
					t.Fatalf("%d of %d replies, then %v", i, owed, err)
				}
			}
			p.wantEnd(nil)
		}
	}
}

func TestStopCancelsAndReturns(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"test/wait","params":{"name":"a"}}`)
	<-p.probe.started
	p.Stop() // while the server reads from a pipe that stays open
	if r := p.reply(); r.Error.Code != codeOfCancelled {
		t.Errorf("got %+v", r)
	}
	p.wantEnd(nil)
}

func TestStopWithAClientThatDoesNotRead(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	go func() {
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(p.In, `{"jsonrpc":"2.0","id":%d,"method":"test/echo","params":{"a":%d}}`+"\n", i, i); err != nil {
				return
			}
		}
	}()
	time.Sleep(50 * time.Millisecond) // let the pipe to the client fill; if it does not, the test proves less but does not fail
	p.Stop()
	if err := p.Wait(p.t); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestVanishedReader(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"test/wait","params":{"name":"a"}}`)
	<-p.probe.started
	p.Pipe.Close()
	p.send(`{"jsonrpc":"2.0","id":2,"method":"test/echo"}`)
	if err := p.Wait(p.t); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

// The server writes nothing before the first request, and nothing at all without requests.
func TestSilentClient(t *testing.T) {
	for _, framing := range []transport.Framing{transport.Auto, transport.Line, transport.Header} {
		p := connect(t, transport.Line, Options{Framing: framing})
		p.In.WriteString(" \r\n\n")
		p.In.Close()
		p.wantEnd(nil)
	}
}

func TestNotificationsAreBounded(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	p.reply()
	if err := p.server.Notify("session/changed", 1); err != nil {
		t.Errorf("before initialized: %v", err) // and it is not sent, or the next reply would not be the next message
	}
	p.send(`{"jsonrpc":"2.0","method":"initialized"}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"test/echo","params":[]}`)
	p.want(`{"jsonrpc":"2.0","id":2,"result":[]}`)

	// A client that does not read gets a bounded number of messages.
	told := 0
	big := strings.Repeat("a", 64<<10)
	for ; told < 100_000; told++ {
		if err := p.server.Notify("session/changed", big); err != nil {
			if !errors.Is(err, transport.ErrQueueFull) {
				t.Fatal(err)
			}
			break
		}
	}
	if told > transport.MaxQueued+10 {
		t.Fatalf("%d notifications of 64 KiB were queued", told)
	}
	// Then it gets the queued messages, each of them whole.
	for range told {
		if r := p.reply(); r.Method != "session/changed" {
			t.Fatalf("got %+v", r)
		}
	}
}

// The library reuses the context of a call on its reading goroutine. Our code must not keep it.
func TestManyCallsAtOnce(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	const calls = 20_000
	go func() {
		io.WriteString(p.In, strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"$/setTrace","params":{"value":"off"}}`+"\n", calls))
		p.In.Close()
	}()
	for range calls {
		p.want(`{"jsonrpc":"2.0","id":1,"result":null}`)
	}
	p.wantEnd(nil)
}

// Serve does not wait forever for a handler that ignores cancellation, neither after a stop nor at the end of the input.
func TestStuckHandler(t *testing.T) {
	for _, how := range []string{"stop", "end of input"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := connect(t, transport.Line, Options{})
			stuck, free := make(chan struct{}), make(chan struct{})
			t.Cleanup(func() { close(free) })
			p.server.methods["test/stuck"] = request(func(*Server, context.Context, *noParams) (any, error) {
				close(stuck)
				<-free
				return nil, nil
			})
			p.send(`{"jsonrpc":"2.0","id":1,"method":"test/stuck"}`)
			<-stuck
			if how == "stop" {
				p.Stop()
			} else {
				p.In.Close()
			}
			p.wantEnd(nil)
		})
	}
}

func TestFolders(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file:///ignored","workspaceFolders":[{"uri":"file:///home/a"},{"uri":"file:///home/b/"},{"uri":"https://c"}]}}`)
	p.reply()
	p.send(`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"file:///home/d"},{"uri":"file:///home/b"}],"removed":[{"uri":"file:///home/a/"},{"uri":"file:///home/e"}]}}}`)
	p.send(`{"jsonrpc":"2.0","id":2,"method":"test/echo"}`)
	p.reply()
	want := []string{"/home/b", "/home/d"}
	if runtime.GOOS == "windows" {
		want = []string{`\home\b`, `\home\d`}
	}
	if diff := cmp.Diff(want, p.server.client.folders); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}

	p = connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file:///home/a","workspaceFolders":null}}`)
	p.reply()
	if got := p.server.client.folders; len(got) != 1 {
		t.Errorf("folders %q, want that of rootUri", got)
	}
}

func TestClientProcessThatIsNotThere(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":2147483646}}`)
	p.reply()
	if err := p.In.Close(); err != nil {
		t.Fatal(err)
	}
	p.wantEnd(nil)
}

func TestNoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		p := connect(t, transport.Line, Options{})
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":%d}}`, os.Getpid()))
		p.send(`{"jsonrpc":"2.0","id":1,"method":"test/wait","params":{"name":"a"}}`)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"test/note","params":{"sessionId":"s","name":"b","wait":true}}`)
		<-p.probe.started
		p.Stop()
		p.Wait(p.t)
		p.In.Close()
		p.Pipe.Close()
	}
	deadline := time.Now().Add(rpctest.Timeout)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond)
	}
}
