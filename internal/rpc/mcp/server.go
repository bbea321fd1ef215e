// Package mcp is the server for agents. It speaks the Model Context Protocol on standard input and output, and has tools that only read.
// Only this package uses the MCP SDK.
//
// Two faults that end the SDK's own server do not end this one: a panic of a tool, and a line that is no message.
package mcp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core"
)

const (
	// closeGrace is the time for calls in progress after the server was told to stop.
	closeGrace = 500 * time.Millisecond
	// parentCheck is the interval of checks whether the parent process still runs.
	parentCheck = time.Second
)

// instructions describe the server to a model, if the host passes them on.
const instructions = "ctxls knows how full the context window of every coding agent on this machine is. Call inspect_state before a large " +
	"task, when it is to be decided whether to compact or clear the conversation, or when asked how much context is left. Call " +
	"measure_context to know how many tokens a text or a conversation has before it is sent, and estimate before reading large files. " +
	"Call recall to search what was said in this session before its last compaction. All only read."

// Options are the dependencies of a Server.
type Options struct {
	Service *core.Service
	Version string       // of ctxls, told to the client
	Log     *slog.Logger // nil logs nothing
	Folders []string     // the workspace of a client that lists no folders: the working directory
	HostPID int          // the parent process, which is the agent's host or belongs to it; 0 is unknown
	// HostLives reports whether that process still runs; the server ends when it does not. nil means that it always runs.
	HostLives func() bool
	MaxLine   int // bytes of one message; 0 is DefaultMaxLine
}

// Server serves clients, each over its own connection.
type Server struct {
	options Options
	log     *slog.Logger
	sdk     *sdk.Server
}

// New returns a server; Serve starts it.
func New(options Options) *Server {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.MaxLine == 0 {
		options.MaxLine = DefaultMaxLine
	}
	s := &Server{options: options, log: options.Log}
	s.assemble()
	return s
}

// ServeStdio serves the client at the standard streams. It ignores SIGPIPE from then on, so that writing to a client that is gone ends
// the connection and not the process.
func (s *Server) ServeStdio(ctx context.Context) error {
	signal.Ignore(syscall.SIGPIPE)
	return s.Serve(ctx, os.Stdin, os.Stdout)
}

// Serve answers the client until the input ends, the client disappears or ctx ends. When the input ends, earlier calls are answered
// first, within 5 seconds. When ctx ends, Serve returns within a second, even if in or out never return. It closes neither. Its error is
// that of reading the input; the end of the input is no error.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.watchHost(ctx, stop)
	w := newWire(in, out, s.options.MaxLine, s.log)
	defer w.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.sdk.Run(ctx, w) }()
	select {
	case err := <-ended:
		return s.outcome(ctx, err)
	case <-ctx.Done():
	}
	w.Close()
	select {
	case err := <-ended:
		return s.outcome(ctx, err)
	case <-time.After(closeGrace):
		return nil
	}
}

// outcome converts the end of the SDK's server to the error for the caller.
func (s *Server) outcome(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// assemble makes the SDK's server with the tools.
func (s *Server) assemble() {
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "ctxls", Title: "ctxls: context windows", Version: s.options.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // the tools never change, and logs go to stderr
	})
	for _, t := range tools {
		s.sdk.AddTool(t.describe(), s.handler(t))
	}
	s.sdk.AddReceivingMiddleware(s.guard)
}

// watchHost ends the server with its parent process. Another process may still hold the parent's end of the pipe open.
func (s *Server) watchHost(ctx context.Context, stop context.CancelFunc) {
	if s.options.HostLives == nil {
		return
	}
	tick := time.NewTicker(parentCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !s.options.HostLives() {
				s.log.Info("the process that started the server ended")
				stop()
				return
			}
		}
	}
}
