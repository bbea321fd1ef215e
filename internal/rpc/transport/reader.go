// Package transport carries the messages of a JSON-RPC client over two byte streams. A Reader splits the input into messages. A Stream
// checks them before the library sees them, bounds how much is being handled, and writes replies and queued notifications.
package transport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// Framing says how messages are delimited.
type Framing string

// The framings. The zero value means Auto.
const (
	Auto   Framing = "auto"   // Line when the first byte that is no blank is { or [, Header otherwise
	Header Framing = "header" // Content-Length headers, as in the base protocol of LSP
	Line   Framing = "line"   // one JSON value a line
)

const (
	maxHeader  = 4 << 10  // bytes of one header block; real ones have about 25
	keepBuffer = 1 << 20  // a larger buffer is released after use
	firstPiece = 64 << 10 // bytes read at once: the capacity of a pipe
)

// ErrFraming marks an error after which the start of the next message cannot be found.
var ErrFraming = errors.New("framing lost")

func framingError(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFraming, coded.Errorf(CodeParse, format, args...))
}

// Reader splits the bytes of a client into messages.
type Reader struct {
	in      *bufio.Reader
	framing Framing // Auto until the first byte
	maxBody int64

	buf      []byte // the last returned body
	skip     int64  // bytes of a too large body that are still to be skipped
	skipLine bool   // the same for a line
}

// NewReader returns a reader of in. maxBody bounds one message, in bytes.
func NewReader(in io.Reader, framing Framing, maxBody int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, firstPiece), framing: framing, maxBody: maxBody}
}

// Next returns the body of the next message, which is valid until the next call. Its errors are io.EOF between two messages, a
// *coded.Error for a message that was skipped, after which the caller may read on, an ErrFraming, or an error of the input.
func (r *Reader) Next() ([]byte, error) {
	if cap(r.buf) > keepBuffer {
		r.buf = nil
	}
	if r.framing == Auto || r.framing == "" {
		if err := r.detect(); err != nil {
			return nil, err
		}
	}
	if r.framing == Line {
		return r.nextLine()
	}
	return r.nextBody()
}

// keep leaves the last returned body valid for good.
func (r *Reader) keep() { r.buf = nil }

// detect chooses the framing by the first byte that is no blank. It skips a byte order mark before that byte.
func (r *Reader) detect() error {
	for {
		b, err := r.in.ReadByte()
		switch {
		case err != nil:
			return err
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			continue
		case b == byteOrderMark[0]:
			if mark, _ := r.in.Peek(2); bytes.Equal(mark, byteOrderMark[1:]) {
				_, _ = r.in.Discard(2)
				continue
			}
		}
		r.framing = Header
		if b == '{' || b == '[' {
			r.framing = Line
		}
		return r.in.UnreadByte()
	}
}

// Blanks are the characters that JSON takes for white space. Others, such as a form feed, make a line invalid.
const Blanks = " \t\r\n"

// byteOrderMark is what Windows shells write before the text that they pipe. At the start of a line it is a blank: they may pipe several texts.
var byteOrderMark = []byte("\ufeff")

// nextLine returns the next line that is not blank. The last line needs no line break.
func (r *Reader) nextLine() ([]byte, error) {
	r.buf = r.buf[:0]
	for {
		piece, err := r.in.ReadSlice('\n')
		switch {
		case err == nil || err == bufio.ErrBufferFull:
		case err == io.EOF && len(r.buf)+len(piece) > 0 && !r.skipLine:
		default:
			return nil, err
		}
		if r.skipLine {
			r.skipLine = err != nil
			continue
		}
		if int64(len(r.buf)+len(piece)) > r.maxBody+1 {
			r.skipLine, r.buf = err != nil, nil
			return nil, r.tooLarge("a line")
		}
		r.grow(len(r.buf) + len(piece))
		r.buf = append(r.buf, piece...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if line := bytes.TrimPrefix(bytes.Trim(r.buf, Blanks), byteOrderMark); len(line) > 0 {
			return line, nil
		}
		if r.buf = r.buf[:0]; err != nil {
			return nil, err
		}
	}
}

// nextBody reads a header block and its body.
func (r *Reader) nextBody() ([]byte, error) {
	for r.skip > 0 {
		n, err := io.CopyN(io.Discard, r.in, r.skip)
		if r.skip -= n; err != nil {
			return nil, err
		}
	}
	length, err := r.header()
	if err != nil {
		return nil, err
	}
	if length > r.maxBody {
		r.skip = length
		return nil, r.tooLarge(fmt.Sprintf("a body of %d bytes", length))
	}
	r.buf = r.buf[:0]
	for int64(len(r.buf)) < length {
		r.grow(int(min(int64(len(r.buf))+1, length)))
		n, err := r.in.Read(r.buf[len(r.buf):min(int64(cap(r.buf)), length)])
		r.buf = r.buf[:len(r.buf)+n]
		if int64(len(r.buf)) == length {
			break // the end may come with the last bytes
		}
		if err == io.EOF {
			return nil, framingError("the input ended after %d of %d bytes of a body", len(r.buf), length)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.buf, nil
}

// grow makes room for size bytes. It does not trust the announced length: the buffer is at most a few times as large as what has arrived.
func (r *Reader) grow(size int) {
	if size <= cap(r.buf) {
		return
	}
	times := 4
	if size > keepBuffer/2 {
		times = 2
	}
	grown := make([]byte, len(r.buf), max(times*size, 4<<10))
	copy(grown, r.buf)
	r.buf = grown
}

// header reads one header block and returns its Content-Length. It skips blank lines before the block.
func (r *Reader) header() (length int64, err error) {
	length = -1
	for used, begun := 0, false; ; {
		line, err := r.in.ReadSlice('\n')
		switch used += len(line); {
		case used > maxHeader || err == bufio.ErrBufferFull:
			return 0, framingError("a header block has more than %d bytes", maxHeader)
		case err == io.EOF && len(bytes.TrimSpace(line)) == 0 && !begun:
			return 0, io.EOF
		case err == io.EOF:
			return 0, framingError("the input ended inside a header block")
		case err != nil:
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(bytes.TrimSpace(line)) == 0 && !begun:
			used = 0
			continue
		case len(line) == 0 && length < 0:
			return 0, framingError("a header block without Content-Length")
		case len(line) == 0:
			return length, nil
		}
		begun = true
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found || !isHeaderName(name) {
			return 0, framingError("expected a header line like %q, got %q", "Content-Length: 123", Clip(string(line), 40))
		}
		if !bytes.EqualFold(name, []byte("Content-Length")) {
			continue
		}
		// ParseUint takes no sign, which ParseInt would.
		n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
		if err != nil {
			return 0, framingError("Content-Length: expected a number of bytes, got %q", Clip(string(bytes.TrimSpace(value)), 40))
		}
		if length >= 0 && length != int64(n) {
			return 0, framingError("Content-Length is given twice: %d and %d", length, n)
		}
		length = int64(n)
	}
}

func (r *Reader) tooLarge(what string) error {
	return coded.Errorf(coded.TooLarge, "%s is too large: at most %d bytes are accepted", what, r.maxBody)
}

// isHeaderName rejects a JSON line, which contains colons too.
func isHeaderName(name []byte) bool {
	for _, c := range name {
		if c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(name) > 0
}

// Clip truncates a quoted text to limit bytes.
func Clip(text string, limit int) string {
	return text[:min(len(text), limit)]
}
