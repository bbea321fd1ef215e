package rpc

import (
	"context"
	"slices"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// inFlight holds the calls that a client may cancel. Several calls may have the same ID. Clients should not do that, but each call is
// answered and can be canceled until then.
type inFlight struct {
	mu    sync.Mutex
	calls map[jsonrpc2.ID][]*cancellation
}

type cancellation struct{ cancel context.CancelFunc }

// begin returns the context of a call, and the function that ends it.
func (f *inFlight) begin(ctx context.Context, id jsonrpc2.ID) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	c := &cancellation{cancel}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = make(map[jsonrpc2.ID][]*cancellation)
	}
	f.calls[id] = append(f.calls[id], c)
	return ctx, func() {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		rest := slices.DeleteFunc(f.calls[id], func(other *cancellation) bool { return other == c })
		if len(rest) == 0 {
			delete(f.calls, id)
			return
		}
		f.calls[id] = rest
	}
}

// cancel cancels every call in flight with the ID. It does nothing for calls that were answered.
func (f *inFlight) cancel(id jsonrpc2.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls[id] {
		c.cancel()
	}
}
