package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/ctxls/ctxls/internal/core/session"
)

// file is an open transcript with the size from when it was opened. Later content is for the next read.
type file struct {
	*os.File
	id   session.Cursor // device and inode
	size int64
	b    bounds
}

// errNotRegular says that a path is no regular file. Reading a FIFO would block, and a device could do anything.
var errNotRegular = errors.New("not a regular file")

// open opens a regular file.
func open(path string, b bounds) (*file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := openNonblocking(path)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat() // again: the name may belong to another file by now
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	device, inode := identity(f, info)
	return &file{f, session.Cursor{Device: device, Inode: inode}, info.Size(), b}, nil
}

func (f *file) close() { f.Close() }

// startsLine reports whether a line starts at offset. A cursor is always at the start of a line, so otherwise the file was rewritten.
func (f *file) startsLine(offset int64) bool {
	if offset == 0 {
		return true
	}
	var before [1]byte
	_, err := f.ReadAt(before[:], offset-1)
	return err == nil && before[0] == '\n'
}

// fill reads all of p from offset. It returns false if the file has become shorter.
func (f *file) fill(p []byte, offset int64) (bool, error) {
	_, err := f.ReadAt(p, offset)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

// buffers holds buffers of two pieces for the next reads, since a list or an import reads hundreds of files.
var buffers = sync.Pool{New: func() any { return new([2 * PieceBytes]byte) }}

// buffer returns a buffer of two pieces, which is enough for most lines, or of the whole span if that is shorter. release gives it
// back; no part of it may be used after that.
func (f *file) buffer(span int64) (buf []byte, release func()) {
	pooled := buffers.Get().(*[2 * PieceBytes]byte)
	return pooled[:min(span, 2*f.b.piece, f.longest(), int64(len(pooled)))], func() { buffers.Put(pooled) }
}

// longest is the size of a buffer for the longest line and one piece.
func (f *file) longest() int64 { return f.b.line + f.b.piece }

// grown returns a larger buffer, for at least need bytes, or nil if no line may be that long.
func (f *file) grown(buf []byte, need int) []byte {
	if int64(need) > f.longest() {
		return nil
	}
	return make([]byte, min(max(2*int64(len(buf)), int64(need)), f.longest()))
}

// forward visits the complete lines from offset on, oldest first, until visit returns false. It returns the offset of the first byte
// after them.
func (f *file) forward(ctx context.Context, offset int64, visit func(offset int64, line []byte) bool) (next int64, err error) {
	buf, release := f.buffer(f.size - offset)
	defer release()
	var (
		held    = 0     // bytes at the front of buf: a line whose end is not read yet
		tooLong = false // that line is longer than buf, and its beginning is lost
	)
	for next = offset; offset < f.size; {
		if err := ctx.Err(); err != nil {
			return next, err
		}
		n := int(min(f.b.piece, f.size-offset))
		if held+n > len(buf) {
			if larger := f.grown(buf, held+n); larger != nil {
				copy(larger, buf[:held])
				buf = larger
			} else {
				held, tooLong = 0, true
			}
		}
		if ok, err := f.fill(buf[held:held+n], offset); !ok {
			return next, err
		}
		offset += int64(n)
		rest, unsearched := buf[:held+n], held
		for {
			end := bytes.IndexByte(rest[unsearched:], '\n')
			if end < 0 {
				break
			}
			end += unsearched
			start := next
			next = offset - int64(len(rest)-end-1)
			if !tooLong && !visit(start, trimCR(rest[:end])) {
				return next, nil
			}
			rest, unsearched, tooLong = rest[end+1:], 0, false
		}
		held = copy(buf, rest)
	}
	return next, nil
}

// backward visits complete lines from the end of the file, newest first, until visit returns false or the reach is used up. It returns
// the offsets of the first visited byte and of the first byte after the last complete line.
func (f *file) backward(ctx context.Context, visit func(offset int64, line []byte) bool) (first, next int64, err error) {
	buf, release := f.buffer(min(f.size, f.b.reach))
	defer release()
	var (
		floor   = max(0, f.size-f.b.reach)
		offset  = f.size
		ended   = false // the end of the last complete line was found
		held    = 0     // bytes at the end of buf: a line whose start is not read yet
		tooLong = false // that line is longer than buf, and its end is lost
		ends    []int   // the line endings of one piece
	)
	// A line longer than the reach is still being written, so there is nothing to read yet.
	first, next = f.size, f.size
	for offset > floor {
		if err := ctx.Err(); err != nil {
			return first, next, err
		}
		n := int(min(f.b.piece, offset-floor))
		if held+n > len(buf) {
			if larger := f.grown(buf, held+n); larger != nil {
				copy(larger[len(larger)-held:], buf[len(buf)-held:])
				buf = larger
			} else {
				held, tooLong = 0, true
			}
		}
		rest := buf[len(buf)-held-n:]
		if ok, err := f.fill(rest[:n], offset-int64(n)); !ok {
			return first, next, err
		}
		offset -= int64(n)
		ends = lineEndings(ends[:0], rest[:n])
		for i := len(ends) - 1; i >= 0; i-- {
			start, line := offset+int64(ends[i]+1), rest[ends[i]+1:]
			switch {
			case !ended:
				ended, first, next = true, start, start
			case tooLong:
				first = start
			default:
				first = start
				if !visit(start, trimCR(line)) {
					return first, next, nil
				}
			}
			rest, tooLong = rest[:ends[i]], false
		}
		if held = 0; ended {
			held = copy(buf[len(buf)-len(rest):], rest)
		}
	}
	if offset > 0 {
		return first, next, nil
	}
	if first = 0; !ended {
		return 0, 0, nil
	}
	if !tooLong {
		visit(0, trimCR(buf[len(buf)-held:]))
	}
	return first, next, nil
}

// lineEndings appends the indexes of all line endings in p.
func lineEndings(to []int, p []byte) []int {
	for at := 0; ; {
		i := bytes.IndexByte(p[at:], '\n')
		if i < 0 {
			return to
		}
		at += i + 1
		to = append(to, at-1)
	}
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }
