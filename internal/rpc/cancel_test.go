package rpc

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/rpc/transport"
)

func TestCancelWhileRunning(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":"x","method":"test/wait","params":{"name":"a"}}`)
	<-p.probe.started
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}`)
	p.want(`{"jsonrpc":"2.0","id":"x","error":{"code":-32800,"message":"request cancelled","data":{"code":"cancelled"}}}`)
	// After the reply, a cancellation has no effect.
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}`)
	p.send(`{"jsonrpc":"2.0","id":"x","method":"test/echo","params":[1]}`)
	p.want(`{"jsonrpc":"2.0","id":"x","result":[1]}`)
}

func TestCancelWhileWaitingInLine(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	for i := 1; i <= 3; i++ {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"test/note","params":{"sessionId":"s","name":"%d","wait":true}}`, i, i))
	}
	<-p.probe.started
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`)
	if r := p.reply(); r.ID != 2.0 || r.Error.Code != codeOfCancelled {
		t.Fatalf("got %+v", r)
	}
	// The third still waits for the first.
	p.probe.release <- "1"
	p.want(`{"jsonrpc":"2.0","id":1,"result":"1"}`)
	<-p.probe.started
	p.probe.release <- "3"
	p.want(`{"jsonrpc":"2.0","id":3,"result":"3"}`)
}

// Cancellation is seen while every worker is busy and more calls wait for one.
func TestCancelWhileWorkersAreBusy(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	const calls = 100
	for i := range calls {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"test/wait","params":{"name":"%d"}}`, i, i))
	}
	for i := range calls {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, i))
	}
	seen := make(map[any]int)
	for range calls {
		r := p.reply()
		if r.Error == nil || r.Error.Code != codeOfCancelled {
			t.Fatalf("got %+v", r)
		}
		seen[r.ID]++
	}
	if len(seen) != calls {
		t.Errorf("%d ids answered, want %d", len(seen), calls)
	}
}

func TestManyCallsWithCancellation(t *testing.T) {
	p := connect(t, transport.Header, Options{})
	calls := 100_000
	if underRace {
		calls = 10_000
	}
	go func() {
		var all strings.Builder
		for i := range calls {
			fmt.Fprint(&all, framed(transport.Header, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"test/note","params":{"sessionId":"s%d","name":""}}`, i, i%7)))
			if i%3 == 0 {
				all.WriteString(framed(transport.Header, fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`, i)))
			}
			if all.Len() > 100_000 {
				io.WriteString(p.In, all.String())
				all.Reset()
			}
		}
		io.WriteString(p.In, all.String())
		p.In.Close()
	}()
	seen := make([]bool, calls)
	for range calls {
		r := p.reply()
		id := int(r.ID.(float64))
		if seen[id] || r.Error != nil && r.Error.Code != codeOfCancelled {
			t.Fatalf("got %+v, answered before: %v", r, seen[id])
		}
		seen[id] = true
	}
	p.wantEnd(nil)
	if slices.Contains(seen, false) {
		t.Error("a call was never answered")
	}
}
