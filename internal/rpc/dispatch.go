package rpc

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// handle is the one handler. The library calls it for each request in the order of arrival, on the goroutine that reads,
// and reads on when handle returns or calls jsonrpc2.Async. The order of the steps is their meaning:
//
//  1. A context of our own: the library's is pooled, and one derived from it that outlives the call crashes the process.
//  2. What changes the connection runs at once, before anything more is read.
//  3. A request about a session takes its place in that session's line, and one about all of them behind everyone, still
//     in the order of arrival.
//  4. Now reading goes on, so that a cancellation or another session's request is seen while this one waits or works.
//  5. Its turn, a free worker, the work.
//
// Returning nil for every notification and a *jsonrpc2.Error for every failed call is what keeps the connection alive.
func (s *Server) handle(pooled context.Context, req *jsonrpc2.Request) (reply any, err error) {
	params, stay := s.stream.Params(req)
	s.stream.Begin(len(params))
	defer s.stream.End(len(params))

	ctx := jsonrpc2.DetachContext(pooled)
	if req.IsCall() {
		var end func()
		ctx, end = s.inFlight.begin(ctx, req.ID())
		defer end()
	}
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a handler panicked", "method", req.Method(), "panic", p, "stack", string(debug.Stack()))
			reply, err = nil, transport.WireError(coded.Errorf(coded.Internal, "panic"))
		}
		if !req.IsCall() {
			reply, err = nil, nil
		}
	}()

	result, err := s.work(ctx, pooled, req, params, stay)
	if err == nil {
		var raw []byte
		if raw, err = encode(result); err == nil {
			return jsonrpc2.RawMessage(raw), nil
		}
	}
	if ctx.Err() != nil {
		err = context.Canceled // whatever the work made of it
	}
	s.logFailure(req.Method(), err)
	return nil, transport.WireError(err)
}

// work does steps 2 to 5 of handle. stay says that params stay valid after step 4.
func (s *Server) work(ctx, pooled context.Context, req *jsonrpc2.Request, params []byte, stay bool) (result any, err error) {
	m, err := s.find(req)
	if err != nil {
		return nil, err
	}
	var call bound
	if m.mode != sideBySide {
		if call, err = m.bind(s, params); err != nil {
			return nil, err
		}
	}
	if m.mode == atOnce {
		return call.run(ctx)
	}
	place := s.place(m.mode, call.session)
	defer s.turns.leave(place)
	jsonrpc2.Async(pooled)
	if !stay {
		params = req.Params() // now a copy of their own
	}
	if err := place.wait(ctx); err != nil {
		return nil, err
	}
	select {
	case s.workers <- struct{}{}:
		defer func() { <-s.workers }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m.mode == sideBySide {
		if call, err = m.bind(s, params); err != nil {
			return nil, err
		}
	}
	return call.run(ctx)
}

// place takes a request's place in the order of arrival.
func (s *Server) place(when mode, session string) *turn {
	if when == afterAll {
		return s.turns.takeLast()
	}
	return s.turns.take(session)
}

// find returns the method of req, or an error that says why it may not be called.
func (s *Server) find(req *jsonrpc2.Request) (method, error) {
	if err := transport.Refused(req); err != nil {
		return method{}, err
	}
	name := req.Method()
	if s.client.isShutDown() && name != "exit" {
		return method{}, coded.Errorf(transport.CodeInvalidRequest, "the server was shut down: only exit may follow")
	}
	m, ok := s.methods[name]
	if !ok {
		return method{}, coded.Errorf(transport.CodeMethodNotFound, "no method %q", strings.ToValidUTF8(transport.Clip(name, 80), "?"))
	}
	return m, nil
}

// logFailure logs faults of the server as errors, and faults of the client at debug level.
func (s *Server) logFailure(method string, err error) {
	if coded.CodeOf(err) == coded.Internal && !errors.Is(err, context.Canceled) {
		s.log.Error("a request failed", "method", method, "error", err, "cause", errors.Unwrap(err))
		return
	}
	s.log.Debug("a request was refused", "method", method, "error", err)
}
