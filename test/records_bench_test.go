package test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// The cost of showing Claude Code's sessions from the disk, without any hook. The test writes two trees: 450 sessions of
// 1 GB in total, and 20,000 small files. If `make bench` installed ccusage, it reports the same sessions; the programs
// run in turns.

// captured is the session in the captured transcript.
const captured = "88212f3e-3bd0-416b-b5d5-68738bcc9161"

// promptOf returns the prompt of the captured transcript, with "<time>" for its time.
func promptOf(b *testing.B) string {
	data, err := os.ReadFile("../internal/host/claudecode/testdata/transcripts/basic.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, `"promptSource":"sdk"`) {
			return regexp.MustCompile(`"timestamp":"[^"]*"`).ReplaceAllString(line, `"timestamp":"<time>"`)
		}
	}
	b.Fatal("the captured session has no prompt")
	return ""
}

// recordTree writes sessions of Claude Code below a home, of so many bytes in all. As on
// a machine in use, most are short: each tenth holds half of the bytes. A prompt starts 190 KB of work.
func recordTree(b *testing.B, home string, sessions int, bytes int64) {
	turns := turnsOf(b)
	text := turns.text
	prompt := promptOf(b)
	for i := range sessions {
		size := bytes / 2 / int64(sessions) * 10 / 9
		if i%10 == 0 {
			size = bytes / 2 / int64(sessions) * 10
		}
		dir := filepath.Join(home, ".claude", "projects", fmt.Sprintf("-home-dev-project-%d", i%40))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		id := fmt.Sprintf("%08x-3bd0-416b-b5d5-68738bcc9161", i)
		path := filepath.Join(dir, id+".jsonl")
		turns.text, turns.prompt = strings.ReplaceAll(text, captured, id), strings.ReplaceAll(prompt, captured, id)
		turns.count = (turns.count + 9) / 10 * 10 // each session begins with a prompt
		turns.write(b, path, size)
		at := time.Now().Add(-time.Duration(sessions-i) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			b.Fatal(err)
		}
	}
}

// reader is a program that reads the tree, and its results so far.
type reader struct {
	name    string
	command []string
	state   bool // a state or cache to remove before each run
	times   []time.Duration
	peak    int64 // bytes
}

func (r *reader) run(b *testing.B, bin, home, own string) {
	b.Helper()
	if r.state {
		if err := os.RemoveAll(own); err != nil {
			b.Fatal(err)
		}
	}
	cmd := measured(b, bin, 5*time.Minute, r.command...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &out, &complaint, home
	cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "XDG_STATE_HOME=" + own, "XDG_CACHE_HOME=" + own, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1", "TZ=UTC"}
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v: %s", r.name, err, complaint.String())
	}
	if out.Len() == 0 {
		b.Fatalf("%s prints nothing", r.name)
	}
	took, peak := measure(b, bin)
	r.times, r.peak = append(r.times, took), max(r.peak, peak)
}

func (r *reader) report(b *testing.B) {
	slices.Sort(r.times)
	b.ReportMetric(float64(r.times[len(r.times)/2].Microseconds())/1000, r.name+"-ms")
	b.ReportMetric(float64(r.peak)/(1<<20), r.name+"-MiB")
}

// BenchmarkRecords lists and imports 450 sessions of 1 GB.
func BenchmarkRecords(b *testing.B) {
	bin, home := buildAll(b), b.TempDir()
	recordTree(b, home, 450, 1<<30)
	ctxls := filepath.Join(bin, "ctxls")
	readers := []*reader{
		{name: "list", command: []string{ctxls, "sessions"}},
		{name: "list-cold", command: []string{ctxls, "sessions"}, state: true},
		{name: "import", command: []string{ctxls, "import"}, state: true},
	}
	if modules := os.Getenv("CTXLS_BENCH_RIVALS"); modules != "" {
		platform := runtime.GOOS + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
		program := filepath.Join(modules, "@ccusage/ccusage-"+platform, "bin/ccusage")
		if err := os.Chmod(program, 0o755); err != nil { // as its Node script does in its first run
			b.Logf("left out: ccusage: %v", err)
		}
		report := []string{program, "session", "--offline"}
		readers = append(readers, &reader{name: "ccusage", command: report}, &reader{name: "ccusage-cold", command: report, state: true})
	}
	const rounds = 5
	own := b.TempDir()
	for round := range rounds + 1 {
		for _, r := range readers {
			r.run(b, bin, home, filepath.Join(own, r.name))
			if round == 0 {
				r.times = nil // the first run reads the files into the memory of the system
			}
		}
	}
	for _, r := range readers {
		r.report(b)
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkManyRecords lists 20,000 sessions repeatedly in one server, and measures the idle server.
func BenchmarkManyRecords(b *testing.B) {
	const rest = 30 * time.Second
	bin, home := buildAll(b), b.TempDir()
	recordTree(b, home, 20_000, 20_000*16<<10)
	first := &reader{name: "first", command: []string{filepath.Join(bin, "ctxls"), "sessions"}, state: true}
	own := filepath.Join(b.TempDir(), "own")
	for range 5 {
		first.run(b, bin, home, own)
	}
	first.report(b)
	e := startEditor(b, bin, home)
	var refreshes []time.Duration
	for range 21 {
		start := time.Now()
		if answer := e.ask("session/list", `{"limit":20}`); !bytes.Contains(answer, []byte("sessionId")) {
			b.Fatalf("%s", answer)
		}
		refreshes = append(refreshes, time.Since(start))
	}
	slices.Sort(refreshes)
	b.ReportMetric(float64(refreshes[len(refreshes)/2].Microseconds())/1000, "refresh-ms")
	if _, err := os.Stat("/proc/self/schedstat"); err == nil {
		time.Sleep(5 * time.Second) // the collector gives memory back
		start, before := time.Now(), worked(b, e.server.Process.Pid)
		time.Sleep(rest)
		b.ReportMetric(100*float64(worked(b, e.server.Process.Pid)-before)/float64(time.Since(start)), "rest-percent")
		b.ReportMetric(float64(resident(b, e.server.Process.Pid))/1024, "rest-MiB")
	}
	b.ReportMetric(0, "ns/op")
}
