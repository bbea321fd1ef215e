package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/lsp"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// DefaultMaxBody is the largest accepted message, in bytes, if Options.MaxBody is 0.
const DefaultMaxBody = 64 << 20

// closeGrace is the time for writing replies after the server was told to stop. Serve returns soon after it.
const closeGrace = 500 * time.Millisecond

// ErrExit is the error of Serve when the client sends exit without an earlier shutdown. LSP requires exit status 1 for this.
var ErrExit = errors.New("the client sent exit without shutdown")

// Options are the dependencies of a Server. The zero value serves only the lifecycle and detects the framing.
type Options struct {
	Service *core.Service     // the service behind the methods; nil serves only the lifecycle
	Version string            // of ctxls, told to the client
	Log     *slog.Logger      // nil logs nothing
	Framing transport.Framing // "" is transport.Auto
	MaxBody int64             // bytes of one message; 0 is DefaultMaxBody

	// Configure applies the configuration that the client sent, with initialize or later. Calls never overlap. An error is logged and
	// shown to the client, and has no other consequence. nil ignores configuration.
	Configure func(config json.RawMessage) error

	// Audit returns the options of an audit of a directory. nil offers no context/audit.
	Audit func(dir string) audit.Options
	// Language answers requests about documents; its folders are Folders. nil offers none of them.
	Language func(folders func() []string) *lsp.Service
}

// Server serves one client over one connection.
type Server struct {
	options Options
	log     *slog.Logger
	service *core.Service
	methods map[string]method

	stream    *transport.Stream
	stop      context.CancelFunc // ends Serve
	client    client
	inFlight  inFlight
	turns     turns
	language  *lsp.Service
	publisher publisher
	workers   chan struct{} // one token for each running handler

	progressAfter time.Duration // the constant, except in tests
	stale         chan struct{} // contains a value if the client's view may have changed for another reason than a change in the store
}

// New returns a server; Serve starts it.
func New(options Options) *Server {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.MaxBody == 0 {
		options.MaxBody = DefaultMaxBody
	}
	offered := maps.Clone(methods)
	if options.Service == nil {
		maps.DeleteFunc(offered, func(_ string, m method) bool { return m.mode != atOnce })
	}
	if options.Audit == nil {
		delete(offered, "context/audit")
	}
	s := &Server{
		options: options,
		log:     options.Log,
		service: options.Service,
		methods: offered,
		// Handlers count tokens or wait for the store, so there are two for each core.
		workers: make(chan struct{}, 2*max(runtime.GOMAXPROCS(0), 2)),
		stale:   make(chan struct{}, 1),

		progressAfter: progressAfter,
		client:        client{readied: make(chan struct{})},
		publisher:     publisher{woken: make(chan struct{}, 1)},
	}
	if options.Language != nil {
		s.language = options.Language(s.client.workspace)
		maps.Copy(s.methods, languageMethods)
	}
	return s
}

// Serve reads requests from in and writes replies and notifications to out, until the input ends, the client sends exit or disappears,
// or ctx ends. It may be called once. It writes nothing before it has read something.
//
// When the input ends, all earlier requests are answered first, within 5 seconds. When ctx ends, requests are canceled and Serve returns
// within 1 second, even if in or out never return. Then a goroutine remains until they do: Serve closes neither, and a read of os.Stdin
// cannot be interrupted.
//
// Serve returns nil when the connection ended normally, ErrExit, or an error that says where framing was lost.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	s.stream = transport.New(in, out, s.options.Framing, s.options.MaxBody, s.log)
	written, pushed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		s.stream.WriteQueued(ctx.Done())
	}()
	jsonrpc2.NewConn(s.stream).Go(ctx, s.handle)
	go func() {
		defer close(pushed)
		var publishing sync.WaitGroup
		publishing.Go(func() { s.publish(ctx) })
		s.push(ctx)
		publishing.Wait()
	}()

	select {
	case <-s.stream.Done():
	case <-ctx.Done():
	}
	s.stop()
	stopped := time.Now()
	s.stream.WaitUntilIdle(closeGrace)
	s.stream.Close()
	<-pushed
	select {
	case <-written:
	case <-time.After(closeGrace - time.Since(stopped)):
	}
	if s.client.exitedEarly() {
		return ErrExit
	}
	return s.stream.Err()
}

// ServeStdio serves the client at the standard streams. It ignores SIGPIPE from then on, so that writing to a client that is gone ends
// the connection and not the process.
func (s *Server) ServeStdio(ctx context.Context) error {
	signal.Ignore(syscall.SIGPIPE)
	return s.Serve(ctx, os.Stdin, os.Stdout)
}

// Notify sends a notification, unless the client never completed the handshake. It does not wait: if the client does not read and the
// queue is full, Notify returns an error with coded.Unavailable and sends nothing. Notifications that were queued before a reply are
// written before it.
func (s *Server) Notify(method string, params any) error {
	raw, err := encode(params)
	if err != nil {
		return err
	}
	return s.notify(method, raw)
}

// notify is Notify with encoded params.
func (s *Server) notify(method string, params []byte) error {
	if !s.client.isReady() {
		return nil
	}
	return s.stream.Notify(jsonrpc2.AppendNotification(nil, method, params))
}
