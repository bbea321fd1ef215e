package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// oweAtEnd is how long replies may take after the client closed its end.
const oweAtEnd = 5 * time.Second

// Stream is the jsonrpc2.Stream of one connection. It passes only well-formed requests to the library, and answers the rest itself. It
// stops reading while too many requests are open. It reports the end of the input only after all open requests are answered, because
// the library drops replies after that.
//
// The library writes only replies; notifications go through the writer's queue.
type Stream struct {
	in   *Reader
	out  *writer
	load *load
	log  *slog.Logger

	params []byte // large params of the last frame, which the library did not get

	ended atomic.Bool           // no more is to be read
	why   atomic.Pointer[error] // what lost the framing, if anything did
	done  chan struct{}         // closed when nothing more is read, written or owed
	once  sync.Once             // closes done
}

var _ jsonrpc2.Stream = (*Stream)(nil)

func New(in io.Reader, out io.Writer, framing Framing, maxBody int64, log *slog.Logger) *Stream {
	s := &Stream{in: NewReader(in, framing, maxBody), load: newLoad(), log: log, done: make(chan struct{})}
	s.out = &writer{
		out:     out,
		wake:    make(chan struct{}, 1),
		framing: func() Framing { return s.in.framing },
		owe:     func(bytes int) { s.load.add(0, 0, bytes) },
		broken: func(err error) {
			log.Info("the client reads no more", "error", err)
			s.Close()
		},
	}
	return s
}

// ReadFrame returns the next body with requests, which is valid until the next call.
func (s *Stream) ReadFrame(context.Context) ([]byte, int64, error) {
	for s.load.waitForRoom() && !s.ended.Load() {
		s.params = nil
		body, err := s.in.Next()
		if s.ended.Load() {
			break
		}
		bad, refused := errors.AsType[*coded.Error](err)
		lost := errors.Is(err, ErrFraming)
		var v verdict
		switch {
		case refused:
			v.refused = bad
		case err == nil:
			v = sift(body)
		}
		if v.refused != nil {
			s.refuse(v.id, v.refused)
		}
		if lost {
			s.why.Store(&err)
		}
		if err != nil && (lost || !refused) {
			break
		}
		if v.pass == nil {
			continue
		}
		if v.owes {
			s.load.add(0, 1, 0)
		}
		if v.params != nil {
			s.params = v.params
			s.in.keep()
		}
		return v.pass, int64(len(body)), nil
	}
	s.ended.Store(true)
	s.load.waitUntilIdle(oweAtEnd)
	s.Close()
	return nil, 0, io.EOF
}

// refuse answers a message that does not reach the handler.
func (s *Stream) refuse(id jsonrpc2.ID, reason error) {
	s.log.Warn("refused a message", "reason", reason)
	_, _ = s.out.write(func(dst []byte) []byte {
		return restoreIDs(jsonrpc2.AppendResponse(dst, id, nil, WireError(reason)), len(dst))
	})
}

// Write writes a reply.
func (s *Stream) Write(_ context.Context, reply jsonrpc2.Message) (int64, error) {
	defer s.load.add(0, -1, 0)
	return s.out.write(func(dst []byte) []byte { return restoreIDs(jsonrpc2.AppendMessage(dst, reply), len(dst)) })
}

// WriteFrame writes the replies to a batch.
func (s *Stream) WriteFrame(_ context.Context, replies []byte) (int64, error) {
	defer s.load.add(0, -1, 0)
	return s.out.write(func(dst []byte) []byte { return restoreIDs(append(dst, replies...), len(dst)) })
}

// Read is part of the interface; the library uses ReadFrame.
func (s *Stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	body, n, err := s.ReadFrame(ctx)
	if err != nil {
		return nil, 0, err
	}
	message, err := jsonrpc2.DecodeMessage(body)
	return message, n, err
}

// Params returns the params of a request, and whether they stay valid after the handler returned or called jsonrpc2.Async: large ones do.
// The handler calls it before either, on the goroutine that reads.
func (s *Stream) Params(req *jsonrpc2.Request) (params []byte, stay bool) {
	if s.params != nil && bytes.Equal(req.Params(), standIn) {
		return s.params, true
	}
	return req.Params(), false
}

// StopReading ends the input after the message in hand.
func (s *Stream) StopReading() { s.ended.Store(true) }

// Close ends the connection, even if requests are open. It does not close the reader and the writer, which belong to the caller.
func (s *Stream) Close() error {
	s.StopReading()
	s.load.close()
	s.once.Do(func() { close(s.done) })
	return nil
}

// Err returns why reading ended, nil for a plain end of the input.
func (s *Stream) Err() error {
	if err := s.why.Load(); err != nil {
		return *err
	}
	return nil
}

// Begin counts a request with params of so many bytes as being handled, until End.
func (s *Stream) Begin(bytes int) { s.load.add(1, 0, bytes) }

// End ends Begin.
func (s *Stream) End(bytes int) { s.load.add(-1, 0, -bytes) }

// WaitUntilIdle returns when every request is handled and answered, when the stream was closed, or after limit.
func (s *Stream) WaitUntilIdle(limit time.Duration) { s.load.waitUntilIdle(limit) }

// Notify queues a notification. It does not wait: ErrQueueFull says that the client does not read.
func (s *Stream) Notify(body []byte) error { return s.out.enqueue(body) }

// WriteQueued writes what Notify queued until stop is closed, and then what is left.
func (s *Stream) WriteQueued(stop <-chan struct{}) { s.out.run(stop) }

// Done is closed when nothing more is read, written or owed.
func (s *Stream) Done() <-chan struct{} { return s.done }

// Framing returns the framing of the connection: Auto until the first byte has come.
func (s *Stream) Framing() Framing { return s.in.framing }

// Queued returns how many notifications wait to be written, and their bytes.
func (s *Stream) Queued() (notifications, bytes int) {
	s.out.queueMu.Lock()
	defer s.out.queueMu.Unlock()
	return len(s.out.queue), s.out.queued
}

// Owed returns how many frames that were read still have to be answered.
func (s *Stream) Owed() int {
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	return s.load.replies
}
