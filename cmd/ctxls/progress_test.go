package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Nothing is drawn in the first second, then a line ten times a second, and in the end it is gone.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &progress{stopped: make(chan struct{})}
		p.ended.Go(func() { p.draw(&out) })
		p.found(12_300_000)
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("drawn within a second: %q", out.String())
		}
		p.counted(4_560_000)
		time.Sleep(100 * time.Millisecond)
		p.reached()
		time.Sleep(100 * time.Millisecond)
		p.stop()
		want := "\r\x1b[Kctxls: reading ███████░░░░░░░░░░░░░  37% of 12.3 MB\r\x1b[Kctxls: reading ████████████████████ 100% of 12.3 MB\r\x1b[K"
		if out.String() != want {
			t.Errorf("got  %q\nwant %q", out.String(), want)
		}
	})
}

func TestProgressOfTheQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &progress{stopped: make(chan struct{})}
		p.ended.Go(func() { p.draw(&out) })
		p.stop()
		if out.Len() > 0 {
			t.Errorf("drawn: %q", out.String())
		}
	})
}

// A progress line is for people: where standard error is no terminal there is none.
func TestNoProgressWithoutATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr bytes.Buffer
		p := newApp(strings.NewReader(""), &stderr, &stderr).startProgress()
		time.Sleep(time.Minute)
		p.stop()
		if stderr.Len() > 0 {
			t.Errorf("drawn: %q", stderr.String())
		}
	})
}
