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
	progressDelay    = time.Second            // what is done sooner needs no progress
	progressInterval = 100 * time.Millisecond // between two drawings
	clearLine        = "\r\x1b[K"
)

// progress draws how much of some bytes is done, on one line that is gone in the end.
type progress struct {
	total, done atomic.Int64 // bytes; a total of 0 is not known yet
	read        int64        // bytes of the inputs that were found, of whoever finds them alone
	stopped     chan struct{}
	ended       sync.WaitGroup
}

// startProgress starts a progress line on standard error, where that is a terminal. It first appears after a second.
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

// expect notes how much there is to do, as far as inputs tell their size before they are read.
func (p *progress) expect(names ...string) {
	for _, name := range names {
		p.total.Add(sizeOf(name))
	}
}

// found notes how much there was in an input that was expected, counted that so much of it is done.
func (p *progress) found(name string, bytes int) {
	p.read += int64(bytes)
	p.total.Add(int64(bytes) - sizeOf(name))
}
func (p *progress) counted(bytes int) { p.done.Add(int64(bytes)) }

// reached notes that all that was found is done: not every byte of a file is text that counts.
func (p *progress) reached() { p.done.Store(p.read) }

// sizeOf returns the size of an input in bytes, 0 for one that has an end only when it comes.
func sizeOf(name string) int64 {
	if info, err := os.Stat(name); err == nil && name != "-" && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// at notes how much of how much is done.
func (p *progress) at(done, total int64) {
	p.total.Store(total)
	p.done.Store(done)
}

// stop takes the line away.
func (p *progress) stop() {
	close(p.stopped)
	p.ended.Wait()
}
