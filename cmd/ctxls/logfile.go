package main

import (
	"io"
	"os"
	"path/filepath"
	"sync"
)

// maxLogBytes is the size at which the log is rotated; the old file is kept as ".1".
const maxLogBytes = 4 << 20

// logFile is a log that many processes append to. It opens its file at the first line, since most hooks log nothing. It writes to
// fallback if the file cannot be written.
type logFile struct {
	path     string
	fallback io.Writer
	also     io.Writer // also gets every line; nil is none

	mu   sync.Mutex // guards file
	file *os.File
}

// Write appends one line in one call, so that lines of several processes do not mix.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.also != nil {
		_, _ = l.also.Write(line) // its reader may be gone
	}
	if l.file == nil {
		if err := l.open(); err != nil {
			return l.writeFallback(line)
		}
	}
	if n, err := l.file.Write(line); err == nil {
		return n, nil
	}
	return l.writeFallback(line)
}

// writeFallback writes a line to fallback, unless also has it already.
func (l *logFile) writeFallback(line []byte) (int, error) {
	if l.also == l.fallback {
		return len(line), nil
	}
	return l.fallback.Write(line)
}

func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if info, err := os.Lstat(l.path); err == nil {
		if !info.Mode().IsRegular() {
			return os.ErrInvalid
		}
		if info.Size() > maxLogBytes {
			_ = os.Rename(l.path, l.path+".1") // another process may have done so already
		}
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.file = file
	return nil
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}
