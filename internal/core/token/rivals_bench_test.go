package token_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// BenchmarkRivals counts the same texts with ours, toktok (Rust) and quicktok (C++) from Python's registry, in turns. It
// measures the processor time of one thread, the best of several rounds, since other programs can only slow a count
// down. The counts must be equal.
//
// "fresh" is the first text that a counter sees. "again" is a text that it counted before. All three cache words: toktok
// in up to 16 MB, ours in 0.9 MB.
//
// make bench installs them and says where they are:
//
//	go run ./internal/tools/bench 'the faster of'
func BenchmarkRivals(b *testing.B) {
	packages := os.Getenv("CTXLS_BENCH_COUNTERS")
	if packages == "" {
		b.Skip("make bench installs the programs that this one runs")
	}
	child := startRivals(b, packages)
	for _, w := range workloads(b) {
		text := string([]rune(w.text)) // valid UTF-8, as Python's strings are
		path := filepath.Join(b.TempDir(), w.name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		for _, name := range names {
			b.Run(fmt.Sprintf("text=%s/encoding=%s", w.name, name), func(b *testing.B) {
				best := map[string]time.Duration{}
				tokens := get(b, name).Count(text)
				keep := func(by string, took time.Duration) {
					if best[by] == 0 || took < best[by] {
						best[by] = took
					}
				}
				for round := range 5 {
					for _, fresh := range []bool{true, false} {
						if fresh && round%3 > 0 {
							continue // the rival's tokenizer takes a quarter of a second to create
						}
						by := map[bool]string{true: "-fresh", false: ""}[fresh]
						keep("ctxls"+by, timeOurs(b, name, text, fresh))
						for _, program := range []string{"toktok", "quicktok"} {
							took, theirs, err := child.count(program, name, path, fresh)
							if err != nil {
								b.Logf("left out: counters: %s: %v", program, err)
								return
							}
							if theirs != tokens {
								b.Fatalf("%s counts %d tokens, ctxls %d", program, theirs, tokens)
							}
							keep(program+by, took)
							keep("best"+by, took)
						}
					}
				}
				for by, took := range best {
					b.ReportMetric(float64(len(text))/1e6/took.Seconds(), by+"-MB/s")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// timeOurs returns the processor time of one count, after another count of the same text or with an empty cache.
func timeOurs(b *testing.B, name, text string, fresh bool) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	e := get(b, name)
	if fresh {
		runtime.GC() // twice empties pools, and so takes what is known of texts
		runtime.GC()
	} else {
		e.Count(text)
	}
	start := processorTime()
	e.Count(text)
	return processorTime() - start
}

// BenchmarkWorst counts random texts of a few parts of the fuzz targets each, as the first text of an empty cache, and reports the
// slowest: processor time, the best of three.
func BenchmarkWorst(b *testing.B) {
	for b.Loop() {
		random := rand.New(rand.NewPCG(19, 20))
		slowest := math.Inf(1)
		for range 200 {
			var some []string
			for range 1 + random.IntN(6) {
				some = append(some, atoms[random.IntN(len(atoms))])
			}
			var text strings.Builder
			for text.Len() < 64<<10 {
				text.WriteString(some[random.IntN(len(some))])
			}
			for _, name := range names {
				best := min(timeOurs(b, name, text.String(), true), timeOurs(b, name, text.String(), true), timeOurs(b, name, text.String(), true))
				slowest = min(slowest, float64(text.Len())/1e6/best.Seconds())
			}
		}
		b.ReportMetric(slowest, "worst-MB/s")
	}
}

// rivalsChild is a Python process that runs testdata/rival.py.
type rivalsChild struct {
	in  *json.Encoder
	out *bufio.Scanner
}

func startRivals(b *testing.B, packages string) *rivalsChild {
	cmd := exec.Command("python3", "testdata/rival.py")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+packages)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	return &rivalsChild{json.NewEncoder(in), bufio.NewScanner(out)}
}

func (c *rivalsChild) count(program, encoding, path string, fresh bool) (took time.Duration, tokens int, err error) {
	if err := c.in.Encode(map[string]any{"program": program, "encoding": encoding, "path": path, "fresh": fresh}); err != nil {
		return 0, 0, err
	}
	if !c.out.Scan() {
		return 0, 0, fmt.Errorf("python3 ended: %v", c.out.Err())
	}
	var answer struct {
		Seconds float64
		Tokens  int
		Error   string
	}
	if err := json.Unmarshal(c.out.Bytes(), &answer); err != nil {
		return 0, 0, err
	}
	if answer.Error != "" {
		return 0, 0, fmt.Errorf("%s", answer.Error)
	}
	return time.Duration(answer.Seconds * float64(time.Second)), answer.Tokens, nil
}
