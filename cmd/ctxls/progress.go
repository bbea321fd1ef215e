package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/ctxls/ctxls/internal/ui"
)

const (
	progressDelay    = time.Second            // shorter work shows no progress
	progressInterval = 100 * time.Millisecond // between two drawings
	clearLine        = "\r\x1b[K"
)

// progress draws how many bytes are done, on one line that it removes at the end.
type progress struct {
	total, done atomic.Int64 // bytes; a total of 0 is unknown
	read        int64        // bytes of the inputs that were read; only found and reached use it
	stopped     chan struct{}
	ended       sync.WaitGroup
}

// startProgress starts a progress line on standard error, if that is a terminal. The line appears after a second.
func (a *app) startProgress() *progress {
	p := &progress{stopped: make(chan struct{})}
	if f, ok := a.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.ended.Go(func() { p.draw(a.stderr) })
	}
	return p
}

func (p *progress) draw(w io.Writer) {
	select {
	case <-p.stopped:
		return
	case <-time.After(progressDelay):
	}
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		fmt.Fprint(w, clearLine, "ctxls: ", ui.Progress(p.done.Load(), p.total.Load()))
		select {
		case <-p.stopped:
			fmt.Fprint(w, clearLine)
			return
		case <-tick.C:
		}
	}
}

// expect adds the sizes of inputs to the total, as far as they are known before reading.
func (p *progress) expect(names ...string) {
	for _, name := range names {
		p.total.Add(sizeOf(name))
	}
}

// found corrects the total by the real size of an input.
func (p *progress) found(name string, bytes int) {
	p.read += int64(bytes)
	p.total.Add(int64(bytes) - sizeOf(name))
}

// counted adds to the bytes that are done.
func (p *progress) counted(bytes int) { p.done.Add(int64(bytes)) }

// reached sets everything found to done, since not every byte of a file is text that is counted.
func (p *progress) reached() { p.done.Store(p.read) }

// sizeOf returns the size of an input in bytes, 0 if it is not a regular file.
func sizeOf(name string) int64 {
	if info, err := os.Stat(name); err == nil && name != "-" && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// at sets how many bytes are done, and how many there are.
func (p *progress) at(done, total int64) {
	p.total.Store(total)
	p.done.Store(done)
}

// stop removes the line.
func (p *progress) stop() {
	close(p.stopped)
	p.ended.Wait()
}
