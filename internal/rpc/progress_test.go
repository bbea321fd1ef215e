package rpc

import (
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// slowCounter does not count before it is released.
type slowCounter chan struct{}

func (c slowCounter) Count(string) int { <-c; return 1 }

// A client that asked for progress gets it before the reply of a long request. Other clients get none.
func TestProgress(t *testing.T) {
	release := make(slowCounter)
	service := newService(t)
	service.Meter = conversation.NewMeter(func(string) (token.Counter, error) { return release, nil }, token.ForModel)
	p := connect(t, transport.Line, Options{Service: service})
	p.server.progressAfter = time.Millisecond
	p.greet("/nowhere")
	next := func() string {
		t.Helper()
		message, err := p.receive()
		if err != nil {
			t.Fatal(err)
		}
		return message
	}
	measure := func(more string) {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"context/measure","params":{"messages":[{"role":"user","content":"hello"}]` + more + `}}`)
	}
	measure(`,"workDoneToken":"t"`)
	if got := next(); !strings.Contains(got, `"method":"$/progress","params":{"token":"t","value":{"kind":"begin","title":"measuring"}}`) {
		t.Errorf("first %s", got)
	}
	release <- struct{}{}
	if got := next(); !strings.Contains(got, `"method":"$/progress","params":{"token":"t","value":{"kind":"end"}}`) {
		t.Errorf("then %s", got)
	}
	if got := next(); !strings.Contains(got, `"id":1,"result":{"tokens":1,`) {
		t.Errorf("in the end %s", got)
	}
	close(release)
	measure("")
	if got := next(); !strings.Contains(got, `"id":1,"result"`) {
		t.Errorf("unasked: %s", got)
	}
}
