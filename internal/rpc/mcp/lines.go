package mcp

import (
	"bufio"
	"bytes"
	"io"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// DefaultMaxLine is how many bytes of one message are accepted where Options.MaxLine is 0: what the SDK's own transport accepts,
// and more than any model writes.
const DefaultMaxLine = 16 << 20

// keepBuffer is the size of a buffer beyond which it is given back after use, in bytes.
const keepBuffer = 1 << 20

const (
	// blanks are what JSON takes for white space; others, such as a form feed, make a line that is no message.
	blanks = " \t\r\n"
	// byteOrderMark is what Windows shells begin with what they pipe.
	byteOrderMark = "\ufeff"
)

// lineReader cuts the bytes of a client into lines.
type lineReader struct {
	in   *bufio.Reader
	max  int // bytes of a line
	buf  []byte
	skip bool // the rest of a line over the limit is still to be passed over
}

func newLineReader(in io.Reader, max int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 32<<10), max: max}
}

// next returns the next line that is not blank; it is valid until the call after. The last line needs no line break. The errors:
// one with coded.TooLarge for a line that is passed over, after which reading goes on; or that of the reader.
func (r *lineReader) next() ([]byte, error) {
	if cap(r.buf) > keepBuffer {
		r.buf = nil
	}
	r.buf = r.buf[:0]
	for {
		piece, err := r.in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull && (err != io.EOF || r.skip || len(r.buf)+len(piece) == 0) {
			return nil, err
		}
		whole := err != bufio.ErrBufferFull
		if r.skip {
			r.skip = !whole
			continue
		}
		if r.buf = append(r.buf, piece...); len(r.buf) > r.max+1 { // and the line break
			r.skip, r.buf = !whole, nil
			return nil, coded.Errorf(coded.TooLarge, "a line is too large: at most %d bytes are accepted", r.max)
		}
		if !whole {
			continue
		}
		if line := bytes.TrimPrefix(bytes.Trim(r.buf, blanks), []byte(byteOrderMark)); len(line) > 0 {
			return line, nil
		}
		if r.buf = r.buf[:0]; err != nil {
			return nil, err
		}
	}
}
