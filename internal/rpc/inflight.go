package rpc

import (
	"context"
	"slices"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// inFlight knows the calls that a client may cancel. An id may stand for several calls at once: clients should not do
// that, but each is answered, and each stays cancellable until it is.
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

// cancel cancels every call that is in flight under id. Calls already answered are none of its business.
func (f *inFlight) cancel(id jsonrpc2.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls[id] {
		c.cancel()
	}
}
