package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The first second shows nothing. Then a line is drawn ten times a second, and removed at the end.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &progress{stopped: make(chan struct{})}
		p.ended.Go(func() { p.draw(&out) })
		p.total.Store(12_300_000)
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("drawn within a second: %q", out.String())
		}
		p.counted(4_560_000)
		time.Sleep(100 * time.Millisecond)
		p.done.Store(12_300_000)
		time.Sleep(100 * time.Millisecond)
		p.stop()
		want := "\r\x1b[Kctxls: reading ███████░░░░░░░░░░░░░  37% of 12.3 MB\r\x1b[Kctxls: reading ████████████████████ 100% of 12.3 MB\r\x1b[K"
		if out.String() != want {
			t.Errorf("got  %q\nwant %q", out.String(), want)
		}
	})
}

// If the length of the input is unknown, so is the progress. It is not 0 %.
func TestProgressOfWhatIsStillComing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := &progress{stopped: make(chan struct{})}
		p.ended.Go(func() { p.draw(&out) })
		time.Sleep(progressDelay)
		synctest.Wait()
		p.stop()
		if want := "\r\x1b[Kctxls: reading\r\x1b[K"; out.String() != want {
			t.Errorf("got  %q\nwant %q", out.String(), want)
		}
	})
}

// For several files, the line never goes back: the total is known before the first file is read.
func TestProgressOfSeveralFiles(t *testing.T) {
	a := newApp(strings.NewReader("from a pipe"), io.Discard, io.Discard)
	var names []string
	for i, text := range []string{"one two", "three four five six", `[{"role":"user","content":"seven"}]`} {
		names = append(names, filepath.Join(t.TempDir(), strconv.Itoa(i)))
		if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names = append(names, "-")
	p := a.startProgress()
	defer p.stop()
	p.expect(names...)
	if got, want := p.total.Load(), int64(7+19+35); got != want {
		t.Errorf("%d bytes are expected, want %d", got, want)
	}
	p.total.Store(0)
	m := measuring{threshold: 1}
	if _, err := m.measure(a, p, names); err != nil {
		t.Fatal(err)
	}
	if done, total := p.done.Load(), p.total.Load(); done != total || total != 7+19+35+11 {
		t.Errorf("in the end %d of %d bytes are done", done, total)
	}
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

// A progress line is for users, so there is none if standard error is not a terminal.
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
