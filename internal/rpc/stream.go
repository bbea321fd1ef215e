package rpc

import (
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

// oweAtEnd is how long replies may take to be written after the client closed its end.
const oweAtEnd = 5 * time.Second

// stream is the jsonrpc2.Stream of one connection. Of what arrives it hands the library only well-formed requests and
// answers the rest itself; it reads no more than the client's answers allow; and it tells the library of the end of the
// input only when everything read before has been answered, because the library drops replies after it.
//
// Everything that the library writes is a reply: notifications go through the frameWriter's queue instead.
type stream struct {
	in   *frameReader
	out  *frameWriter
	load *load
	log  *slog.Logger

	ended atomic.Bool           // no more is to be read
	why   atomic.Pointer[error] // what lost the framing, if anything did
	done  chan struct{}         // closed when nothing more is read, written or owed
	once  sync.Once             // closes done
}

var _ jsonrpc2.Stream = (*stream)(nil)

func newStream(in io.Reader, out io.Writer, framing Framing, maxBody int64, log *slog.Logger) *stream {
	s := &stream{in: newFrameReader(in, framing, maxBody), load: newLoad(), log: log, done: make(chan struct{})}
	s.out = &frameWriter{
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

// ReadFrame returns the next body that holds requests and nothing else; it is valid until the call after.
func (s *stream) ReadFrame(context.Context) ([]byte, int64, error) {
	for s.load.waitForRoom() && !s.ended.Load() {
		body, err := s.in.next()
		if s.ended.Load() {
			break
		}
		bad, refused := errors.AsType[*coded.Error](err)
		lost := errors.Is(err, errFraming)
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
		return v.pass, int64(len(body)), nil
	}
	s.ended.Store(true)
	s.load.waitUntilIdle(oweAtEnd)
	s.Close()
	return nil, 0, io.EOF
}

// refuse answers what never reaches the handler.
func (s *stream) refuse(id jsonrpc2.ID, reason error) {
	s.log.Warn("refused a message", "reason", reason)
	_, _ = s.out.write(func(dst []byte) []byte { return jsonrpc2.AppendResponse(dst, id, nil, wireError(reason)) })
}

// Write writes a reply.
func (s *stream) Write(_ context.Context, reply jsonrpc2.Message) (int64, error) {
	defer s.load.add(0, -1, 0)
	return s.out.write(func(dst []byte) []byte { return jsonrpc2.AppendMessage(dst, reply) })
}

// WriteFrame writes the replies to a batch.
func (s *stream) WriteFrame(_ context.Context, replies []byte) (int64, error) {
	defer s.load.add(0, -1, 0)
	return s.out.write(func(dst []byte) []byte { return append(dst, replies...) })
}

// Read is for the interface alone; the library prefers ReadFrame.
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	body, n, err := s.ReadFrame(ctx)
	if err != nil {
		return nil, 0, err
	}
	message, err := jsonrpc2.DecodeMessage(body)
	return message, n, err
}

// end stops reading after the message in hand.
func (s *stream) end() { s.ended.Store(true) }

// Close ends the connection, whatever is still owed. It closes neither the reader nor the writer, which are the caller's.
func (s *stream) Close() error {
	s.end()
	s.load.close()
	s.once.Do(func() { close(s.done) })
	return nil
}

// err returns why reading ended, nil for a plain end of the input.
func (s *stream) err() error {
	if err := s.why.Load(); err != nil {
		return *err
	}
	return nil
}
