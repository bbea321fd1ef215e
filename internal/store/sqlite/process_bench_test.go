package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func BenchmarkOpenClose(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	keep := open(b, path) // as a server does
	_ = keep
	for b.Loop() {
		s, err := Open(b.Context(), Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkHook measures the store's work in one hook without a running server.
func BenchmarkHook(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	for i := 0; b.Loop(); i++ {
		s, err := Open(b.Context(), Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		if err := hookEvent(b.Context(), s, i); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, update := range []struct {
		name string
		run  func(context.Context, *Store, int) error
	}{{"event", hookEvent}, {"one row", oneRow}} {
		b.Run(update.name, func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "state.db"))
			for i := 0; b.Loop(); i++ {
				if err := update.run(b.Context(), s, i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkProcesses runs 8 processes with 200 updates each. The bar: the rate of full updates is at least a quarter of
// the rate of one-row transactions. The best round of each kind counts.
func BenchmarkProcesses(b *testing.B) {
	const processes, each = 8, 200
	best := map[string]float64{}
	for b.Loop() {
		for _, kind := range []string{"row", "event"} {
			path := filepath.Join(b.TempDir(), "state.db")
			keep := open(b, path) // as a server does
			elapsed := race(b, processes, "count", path, fmt.Sprint(each), kind)
			best[kind] = max(best[kind], processes*each/elapsed.Seconds())
			keep.Close()
		}
	}
	b.ReportMetric(best["event"], "updates/s")
	b.ReportMetric(best["row"], "rows/s")
	b.ReportMetric(best["event"]/best["row"], "ratio")
}

// race runs n processes at once, and returns the time of the slowest, from the moment when all were ready.
func race(b *testing.B, n int, role, path string, args ...string) time.Duration {
	b.Helper()
	var begin []io.Closer
	var all []*exec.Cmd
	for range n {
		cmd := process(b, role, path, args...)
		cmd.Stderr = os.Stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
			b.Fatalf("%q %v", line, err)
		}
		begin, all = append(begin, stdin), append(all, cmd)
	}
	start := time.Now()
	for _, stdin := range begin {
		stdin.Close()
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}
