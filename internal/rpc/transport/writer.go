package transport

import (
	"bytes"
	"io"
	"strconv"
	"sync"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// The bounds of the queue for a client that does not read.
const (
	MaxQueued      = 256     // notifications
	MaxQueuedBytes = 4 << 20 // bytes of all queued notifications
)

// ErrQueueFull says that the client does not read what it is told.
var ErrQueueFull = coded.Errorf(coded.Unavailable, "the client does not read its notifications")

// writer writes messages to a client, each in one piece, in the framing that the client chose.
type writer struct {
	framing func() Framing  // settled before the first message is written
	broken  func(err error) // called once, when writing fails
	owe     func(bytes int) // told of what waits to be written

	mu  sync.Mutex // held while writing
	out io.Writer
	err error // why writing failed; nothing is written after it

	queueMu sync.Mutex
	queue   [][]byte // frames that wait, each made by frame
	queued  int      // their bytes
	wake    chan struct{}
}

// headroom is what the longest header needs before a body: "Content-Length: " + 19 digits + two line breaks.
const headroom = 40

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// write frames the body that appendBody makes and writes it, after everything queued before. It reports how many bytes
// it wrote.
func (w *writer) write(appendBody func([]byte) []byte) (int64, error) {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= firstPiece {
			buffers.Put(buf)
		}
	}()
	*buf = appendBody(append((*buf)[:0], make([]byte, headroom)...))
	frame := w.frame(buf)
	w.owe(len(frame))
	defer w.owe(-len(frame))

	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushLocked()
	if w.writeLocked(frame); w.err != nil {
		return 0, w.err
	}
	return int64(len(frame)), nil
}

func (w *writer) writeLocked(frame []byte) {
	if w.err != nil {
		return
	}
	if _, w.err = w.out.Write(frame); w.err != nil {
		w.broken(w.err)
	}
}

// frame puts a header before, or a line break behind, the body that starts at headroom.
func (w *writer) frame(buf *[]byte) []byte {
	body := (*buf)[headroom:]
	if w.framing() == Line {
		// A line break in JSON that was passed through can only be a blank between two tokens.
		for i := bytes.IndexByte(body, '\n'); i >= 0; i = bytes.IndexByte(body, '\n') {
			body[i] = ' '
		}
		*buf = append(*buf, '\n')
		return (*buf)[headroom:]
	}
	var header [headroom]byte
	h := append(header[:0], "Content-Length: "...)
	h = strconv.AppendInt(h, int64(len(body)), 10)
	h = append(h, "\r\n\r\n"...)
	start := headroom - len(h)
	copy((*buf)[start:], h)
	return (*buf)[start:]
}

// enqueue leaves a body to be written before the next reply, or by run when there is none.
func (w *writer) enqueue(body []byte) error {
	buf := append(make([]byte, headroom, headroom+len(body)+1), body...)
	frame := w.frame(&buf)

	w.queueMu.Lock()
	defer w.queueMu.Unlock()
	if len(w.queue) >= MaxQueued || w.queued+len(frame) > MaxQueuedBytes {
		return ErrQueueFull
	}
	w.queue = append(w.queue, frame)
	w.queued += len(frame)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

// run writes what is queued until stop is closed, and then what is left.
func (w *writer) run(stop <-chan struct{}) {
	for more := true; more; {
		select {
		case <-stop:
			more = false
		case <-w.wake:
		}
		w.mu.Lock()
		w.flushLocked()
		w.mu.Unlock()
	}
}

func (w *writer) flushLocked() {
	w.queueMu.Lock()
	queue := w.queue
	w.queue, w.queued = nil, 0
	w.queueMu.Unlock()
	for _, frame := range queue {
		w.writeLocked(frame)
	}
}
