// Package rpctest has what the tests of JSON-RPC and of MCP share: a server at the other ends of two real pipes, and transcripts.
package rpctest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"testing"
	"time"
)

// Timeout is the longest wait of a test. It measures nothing, and ends tests that would hang.
const Timeout = 2 * time.Minute

// Client is the client's side of a server.
type Client struct {
	In    *os.File           // the server's input
	Out   *bufio.Reader      // the server's output
	Pipe  *os.File           // what Out reads, for deadlines and for closing
	Stop  context.CancelFunc // cancels the server's context
	Ended chan error         // the result of serve
}

// Connect runs serve on two pipes and returns their other ends. The test closes them when it ends.
func Connect(t testing.TB, serve func(ctx context.Context, in io.Reader, out io.Writer) error) Client {
	t.Helper()
	serverIn, clientOut := Pipe(t)
	clientIn, serverOut := Pipe(t)
	ctx, stop := context.WithCancel(context.Background())
	c := Client{In: clientOut, Out: bufio.NewReader(clientIn), Pipe: clientIn, Stop: stop, Ended: make(chan error, 1)}
	go func() {
		c.Ended <- serve(ctx, serverIn, serverOut)
		serverOut.Close()
	}()
	t.Cleanup(func() {
		stop()
		clientOut.Close()
		clientIn.Close()
	})
	return c
}

// Pipe returns the two ends of a pipe, which the test closes when it ends.
func Pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// Wait returns the result of serve.
func (c Client) Wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-c.Ended:
		return err
	case <-time.After(Timeout):
		t.Fatal("Serve does not return")
		return nil
	}
}

// Log is a log that may be read while it is written.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
