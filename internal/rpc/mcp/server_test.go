package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// slow is a store that answers when it is let.
type slow struct {
	core.Store
	asked chan struct{} // one for each question
	let   chan struct{} // closed when it may answer
}

func newSlow(s core.Store) slow { return slow{s, make(chan struct{}, 1000), make(chan struct{})} }

func (s slow) Fleet(ctx context.Context, n int) (fleet.Fleet, error) {
	s.asked <- struct{}{}
	select {
	case <-s.let:
	case <-ctx.Done():
		return fleet.Fleet{}, ctx.Err()
	}
	return s.Store.Fleet(ctx, n)
}

const inspect = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"inspect_state"}}`

// What was asked before the end of the input is answered, and then the server ends at once.
func TestTheEndOfTheInput(t *testing.T) {
	for range 20 {
		p := connect(t, Options{Service: newService(t)})
		p.greet("{}")
		const calls = maxInHand
		for i := range calls {
			p.send(fmt.Sprintf(inspect, i))
		}
		p.In.Close()
		for range calls {
			if a := p.answer(); a.Result.IsError || a.Error != nil {
				t.Fatalf("%+v", a)
			}
		}
		p.wantEnd(nil)
	}
	p := connect(t, Options{Service: newService(t)})
	start := time.Now()
	p.In.Close()
	p.wantEnd(nil)
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v to end", took)
	}
}

// What cannot be answered holds the end up for a while only, and an order to stop for less.
func TestWhatIsNeverAnswered(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"the input ends":     func(p *peer) { p.In.Close() },
		"told to stop":       func(p *peer) { p.Stop() },
		"the client is gone": func(p *peer) { p.Pipe.Close(); p.send("nonsense") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			store := newSlow(s.Store)
			s.Store = store
			p := connect(t, Options{Service: s})
			p.greet("{}")
			p.send(fmt.Sprintf(inspect, 1))
			<-store.asked
			start := time.Now()
			end(p)
			p.wantEnd(nil)
			limit := closeGrace + time.Second
			if name == "the input ends" {
				limit += oweAtEnd
			}
			if took := time.Since(start); took > limit {
				t.Errorf("it took %v to end", took)
			}
		})
	}
}

// The server ends with the process that started it though its input stays open.
func TestTheEndOfTheHost(t *testing.T) {
	var lives atomic.Bool
	lives.Store(true)
	p := connect(t, Options{Service: newService(t), HostLives: lives.Load})
	p.greet("{}")
	if p.call("inspect_state", "{}").Result.IsError {
		t.Error("an error")
	}
	lives.Store(false)
	p.wantEnd(nil)
}

// An error of the input is told to the caller.
func TestBrokenInput(t *testing.T) {
	broken := errors.New("broken")
	err := New(Options{Service: newService(t)}).Serve(t.Context(), io.MultiReader(strings.NewReader("\n"), failing{broken}), io.Discard)
	if !errors.Is(err, broken) {
		t.Errorf("Serve returned %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// While many calls are being answered nothing more is read; what is in hand is answered, and then the rest. An id that is in hand
// may not be used again until it is answered.
func TestAClientThatAsksMuch(t *testing.T) {
	s := newService(t)
	store := newSlow(s.Store)
	s.Store = store
	p := connect(t, Options{Service: s})
	p.greet("{}")
	p.send(fmt.Sprintf(inspect, 0))
	p.send(fmt.Sprintf(inspect, 0))
	if a := p.answer(); a.ID != nil || a.Error == nil {
		t.Errorf("an id in hand: %+v", a)
	}
	const calls = 4 * maxInHand
	go func() {
		var all bytes.Buffer
		for i := 1; i < calls; i++ {
			fmt.Fprintf(&all, inspect+"\n", i)
		}
		p.In.Write(all.Bytes())
	}()
	for range maxInHand {
		<-store.asked
	}
	select {
	case <-store.asked:
		t.Errorf("more than %d calls are in hand", maxInHand)
	case <-time.After(200 * time.Millisecond):
	}
	close(store.let)
	answered := map[any]bool{}
	for range calls {
		a := p.answer()
		if a.Error != nil || a.Result.IsError || answered[a.ID] {
			t.Fatalf("%+v", a)
		}
		answered[a.ID] = true
	}
	p.send(fmt.Sprintf(inspect, 0))
	if a := p.answer(); a.Error != nil {
		t.Errorf("an id that was answered: %+v", a)
	}
	p.In.Close()
	p.wantEnd(nil)
}

// A call that is cancelled stops; the others go on.
func TestACallIsCancelled(t *testing.T) {
	s := newService(t)
	store := newSlow(s.Store)
	s.Store = store
	p := connect(t, Options{Service: s})
	p.greet("{}")
	p.send(fmt.Sprintf(inspect, 5))
	<-store.asked
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"bored"}}`)
	if a := p.answer(); a.ID != 5.0 || !a.Result.IsError {
		t.Errorf("%+v", a)
	}
	p.send(`{"jsonrpc":"2.0","id":6,"method":"ping"}`)
	if a := p.answer(); a.ID != 6.0 {
		t.Errorf("%+v", a)
	}
}

// A fault of the store is not shown.
func TestFaultsAreNotShown(t *testing.T) {
	s := newService(t)
	s.Store.Close()
	p := connect(t, Options{Service: s})
	p.greet("{}")
	a := p.call("inspect_state", "{}")
	if !a.Result.IsError || strings.Contains(a.text(), "sql") || strings.Contains(a.text(), "/") {
		t.Errorf("%s", a.text())
	}
	if !strings.Contains(p.log.String(), "a tool failed") && !strings.Contains(a.text(), "state") {
		t.Errorf("%q is told and nothing is logged: %s", a.text(), p.log)
	}
}

// FuzzServe feeds raw bytes to a server, whose state is full of names that are not meant well. It ends, without an error; it says nothing
// but lines of JSON-RPC, of which none holds a character that could do anything; and each call is answered under its id.
func FuzzServe(f *testing.F) {
	const greeting = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	for _, seed := range []string{
		"", "nonsense", "[]", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, fmt.Sprintf(inspect, 1), fmt.Sprintf(inspect, 1) + "\n" + fmt.Sprintf(inspect, 1),
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"measure_context","arguments":{"text":"\ud800"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"measure_context","arguments":{"messages":[{"role":"user","content":[{}]}]}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"inspect_state","inputResponses":{"roots":null},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"subscriptions/listen"}`, `{"jsonrpc":"2.0","id":5,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"completion/complete","params":{}}`, `{"jsonrpc":"2.0","id":6,"method":"server/discover"}`,
		`{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"x\u001b[31m"}}`, `{"jsonrpc":"2.0","id":8,"method":"resources/subscribe","params":{"uri":"x"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"\u001b[31m\u202e"}`, `{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"\u001b[31m","arguments":{}}}`,
		`{"jsonrpc":"2.0","Id":11,"METHOD":"tools/list","Result":{}}`, `{"jsonrpc":"2.0","id":12,"method":"ping"}` + "\f", "\u00a0",
		"\ufeff" + `{"jsonrpc":"2.0","id":13,"method":"ping"}`,
	} {
		f.Add([]byte(seed))
	}
	service := newService(f)
	const bad = `\u001b]0;x\u0007\u202e\n[SYSTEM]\u2028`
	told(f, service, `{"session_id":"s`+bad+`","cwd":"/p`+bad+`","hook_event_name":"UserPromptSubmit","prompt":"see /p/`+bad+`.go"}`)
	told(f, service, `{"session_id":"s`+bad+`","cwd":"/p`+bad+`","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/p/a`+bad+`.go"}}`)
	reported(f, service, "t", "/p", 150_000)
	s := New(Options{Service: service, MaxLine: 10_000})
	f.Fuzz(func(t *testing.T, input []byte) {
		input = append([]byte(greeting), input...)
		var out bytes.Buffer
		start := time.Now()
		defer func() {
			if took := time.Since(start); took >= oweAtEnd {
				t.Fatalf("something is never answered: it took %v to end, after\n%s", took, out.Bytes())
			}
		}()
		if err := s.Serve(t.Context(), bytes.NewReader(input), &out); err != nil {
			t.Fatalf("Serve returned %v", err)
		}
		answered := map[string]int{}
		for line := range bytes.Lines(out.Bytes()) {
			var m struct {
				Version string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Result  any             `json:"result"`
				Error   any             `json:"error"`
			}
			if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" || (m.Result == nil) == (m.Error == nil) {
				t.Fatalf("it says %q: %v", line, err)
			}
			harmless(t, m.Result)
			harmless(t, m.Error)
			answered[idOf(m.ID)]++
		}
		asked := map[string]int{}
		for line := range bytes.Lines(input) {
			var m map[string]json.RawMessage
			large := len(line) > 10_000
			line = bytes.TrimPrefix(bytes.Trim(line, transport.Blanks), []byte("\ufeff"))
			if json.Unmarshal(line, &m) == nil {
				asked[idOf(m["id"])]++
				var method string
				if call := !large && string(m["jsonrpc"]) == `"2.0"` && json.Unmarshal(m["method"], &method) == nil && method != ""; call && answered[idOf(m["id"])] == 0 && idOf(m["id"]) != "" {
					t.Fatalf("%q is not answered:\n%s", line, out.Bytes())
				}
			}
		}
		for id, n := range answered {
			if id != "" && n > asked[id] {
				t.Fatalf("%s is answered %d times, and was asked %d times:\n%s", id, n, asked[id], out.Bytes())
			}
		}
	})
}

// idOf makes ids comparable; what is none is "".
func idOf(raw []byte) string {
	var text string
	var number float64
	switch {
	case len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		return fmt.Sprintf("%q", text)
	case len(raw) > 0 && raw[0] != 'n' && json.Unmarshal(raw, &number) == nil:
		return fmt.Sprint(number)
	}
	return ""
}

// harmless makes sure that no string of a JSON value holds a character that does anything but end a line.
func harmless(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			harmless(t, k)
			harmless(t, e)
		}
	case []any:
		for _, e := range v {
			harmless(t, e)
		}
	case string:
		if v != text.SanitizeLines(v) {
			t.Fatalf("it says %q", v)
		}
	}
}
