package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// maxLogBytes is the size at which the log is rotated; the old file is kept as ".1".
const maxLogBytes = 4 << 20

// logFile is a log that many processes append to. It opens its file at the first line, since most hooks log nothing. It writes to
// fallback if the file cannot be written.
type logFile struct {
	path     string
	fallback io.Writer
	also     io.Writer // also gets warnings and errors, and every line where verbose is set; nil is none
	verbose  bool

	mu   sync.Mutex // guards file
	file *os.File
}

// Write appends one line in one call, so that lines of several processes do not mix.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.also != nil && (l.verbose || bytes.Contains(line, []byte(" level=WARN ")) || bytes.Contains(line, []byte(" level=ERROR "))) {
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

// saidAgainAfter is how long a problem that lasts is not logged once more.
const saidAgainAfter = time.Hour

// saidLately reports whether the end of the log has a line with this problem that is younger than saidAgainAfter.
func (l *logFile) saidLately(problem string, now time.Time) bool {
	info, err := os.Lstat(l.path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(l.path)
	if err != nil {
		return false
	}
	defer file.Close()
	end := make([]byte, 64<<10)
	n, _ := file.ReadAt(end, max(0, info.Size()-int64(len(end))))
	said := []byte(" problem=" + strconv.Quote(problem))
	for line := range bytes.Lines(end[:n]) {
		if !bytes.Contains(line, said) {
			continue
		}
		stamp, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("time=")), []byte(" "))
		at, err := time.Parse(time.RFC3339Nano, string(stamp))
		if age := now.Sub(at); err == nil && age >= 0 && age < saidAgainAfter {
			return true
		}
	}
	return false
}

// forget blanks every line about a session, in the log and in the one before it. The files keep their length, since other processes
// are appending to them.
func (l *logFile) forget(sessionID string) {
	for _, path := range []string{l.path, l.path + ".1"} {
		blankLines(path, func(line []byte) bool { return names(line, sessionID) })
	}
}

// minTelling is the length from which on an id stands for its session wherever it is found, such as in the path of a transcript.
const minTelling = 8

// names reports whether a line is about a session.
func names(line []byte, sessionID string) bool {
	if len(sessionID) >= minTelling && bytes.Contains(line, []byte(sessionID)) {
		return true
	}
	for _, spelled := range []string{sessionID, strconv.Quote(sessionID)} { // as slog spells it
		if bytes.Contains(append(bytes.TrimSpace(line), ' '), []byte(" session="+spelled+" ")) {
			return true
		}
	}
	return false
}

// blankLines writes spaces over the lines of a file that meet a condition. What cannot be done is left.
func blankLines(path string, meets func([]byte) bool) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 4*maxLogBytes {
		return
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		return
	}
	at := int64(0)
	for line := range bytes.Lines(text) {
		if meets(line) {
			_, _ = file.WriteAt(bytes.Repeat([]byte(" "), len(bytes.TrimSuffix(line, []byte("\n")))), at)
		}
		at += int64(len(line))
	}
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}
