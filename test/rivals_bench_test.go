package test

import (
	"bytes"
	"encoding/json"
	"errors"
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

// The cost of `ctxls statusline` and of the status lines that people use today, as whole processes, from fork to exit.
// They run in turns with the same payload and transcript, which grows by one response each time, as in a real session.
// `make bench` installs them and passes their paths.
//
// They run with the settings that their authors recommend: no network; ccusage with its own prices and its cache;
// ccstatusline with its initial settings, in a directory that is not a repository, so that it starts no git. ccusage is
// a native program that a Node script starts; both ways are measured.

// patience is the longest wait for a status line.
const patience = 60 * time.Second

// statusLine is a program with its required output: the text that comes from the payload, and the text that must be
// missing after it has read the transcript.
type statusLine struct {
	name        string
	command     []string
	says, never string
}

func BenchmarkStatuslines(b *testing.B) {
	modules := os.Getenv("CTXLS_BENCH_RIVALS")
	if modules == "" {
		b.Skip("make bench installs the programs that this one runs")
	}
	platform := map[string]string{"windows": "win32"}[runtime.GOOS] + "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if platform[0] == '-' {
		platform = runtime.GOOS + platform
	}
	bin := buildAll(b)
	usage := []string{"statusline", "--offline", "--cache"}
	programs := []statusLine{
		{"ctxls", []string{filepath.Join(bin, "ctxls"), "statusline"}, "72%", "?"},
		{"ccstatusline", []string{"node", filepath.Join(modules, "ccstatusline/dist/ccstatusline.js")}, "143.9k", "invalid"},
		{"ccusage", append([]string{"node", filepath.Join(modules, "ccusage/src/cli.js")}, usage...), "143,912 (72%)", "No active block"},
		{"ccusage-native", append([]string{filepath.Join(modules, "@ccusage/ccusage-"+platform, "bin/ccusage")}, usage...), "143,912 (72%)", "No active block"},
	}
	for _, size := range []struct {
		name   string
		bytes  int64
		rounds int
	}{{"1MB", 1 << 20, 11}, {"50MB", 50 << 20, 7}, {"1GB", 1 << 30, 5}} {
		race(b, bin, size.name, size.bytes, size.rounds, programs)
	}
	b.ReportMetric(0, "ns/op")
}

// race runs the programs in turns, and reports the median time and the peak memory of each.
func race(b *testing.B, bin, name string, bytes int64, rounds int, programs []statusLine) {
	home := b.TempDir()
	defer os.RemoveAll(home) // the next one is larger
	project := filepath.Join(home, "project")
	transcript := filepath.Join(home, ".claude", "projects", "-home-dev-project", "88212f3e-3bd0-416b-b5d5-68738bcc9161.jsonl")
	for _, dir := range []string{project, filepath.Dir(transcript)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	turns := turnsOf(b)
	turns.write(b, transcript, bytes)
	payload := statusPayload(b, transcript, project)
	times, peaks := map[string][]time.Duration{}, map[string]int64{}
	for round := range rounds + 1 {
		for _, p := range programs {
			if times[p.name] == nil && round > 1 {
				continue // it is excluded, or was too slow
			}
			appendTo(b, transcript, turns.next(time.Now()))
			took, peak, said, err := p.run(b, bin, home, project, payload)
			switch {
			case errors.Is(err, errTooSlow):
				b.ReportMetric(float64(patience.Milliseconds()), p.name+"-"+name+"-ms")
				b.ReportMetric(float64(peak)/(1<<20), p.name+"-"+name+"-MiB")
			case err == nil && (!strings.Contains(said, p.says) || strings.Contains(said, p.never)):
				err = fmt.Errorf("it says %q", said)
				fallthrough
			case err != nil:
				b.Logf("left out: %s: with %s: %v", p.name, name, err)
			case round > 0: // the first run may write settings, and is the first in which ctxls sees the transcript
				times[p.name], peaks[p.name] = append(times[p.name], took), max(peaks[p.name], peak)
			}
		}
	}
	for program, took := range times {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, program+"-"+name+"-ms")
		b.ReportMetric(float64(peaks[program])/(1<<20), program+"-"+name+"-MiB")
	}
}

var errTooSlow = errors.New("too slow")

func (p statusLine) run(b *testing.B, bin, home, dir string, payload []byte) (took time.Duration, peak int64, said string, err error) {
	cmd := measured(b, bin, patience, p.command...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(payload), &out, &complaint
	cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1", "TZ=UTC"}
	cmd.Dir = dir
	cmd.WaitDelay = time.Second // for what it started, when it was too slow itself
	switch err := cmd.Run(); {
	case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 124:
		took, peak = measure(b, bin)
		return took, peak, "", errTooSlow
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return 0, 0, "", fmt.Errorf("%w: %s", err, first)
	}
	took, peak = measure(b, bin)
	return took, peak, out.String(), nil
}

// statusPayload is a captured payload about that transcript.
func statusPayload(b *testing.B, transcript, project string) []byte {
	text, err := os.ReadFile("../docs/examples/statusline.json")
	if err != nil {
		b.Fatal(err)
	}
	var payload map[string]any
	if err := json.Unmarshal(text, &payload); err != nil {
		b.Fatal(err)
	}
	payload["session_id"] = strings.TrimSuffix(filepath.Base(transcript), ".jsonl")
	payload["transcript_path"], payload["cwd"] = transcript, project
	payload["workspace"] = map[string]any{"current_dir": project, "project_dir": project, "added_dirs": []string{}}
	if text, err = json.Marshal(payload); err != nil {
		b.Fatal(err)
	}
	return text
}

// turns generates turns of an agent in Claude Code's format: a call, its result of 8 KB, and an answer.
type turns struct {
	text   string
	prompt string // written before each tenth turn, "" for none
	count  int
}

// turnsOf takes one from a captured session. The payload's figures are about its answer.
func turnsOf(b *testing.B) *turns {
	data, err := os.ReadFile("../internal/host/claudecode/testdata/transcripts/basic.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, `"isSidechain"`) && strings.Contains(line, `"toolu_mock_0001"`) || strings.Contains(line, "FINAL-ANSWER-BASIC") && strings.Contains(line, `"cache_read_input_tokens":143000`) {
			kept.WriteString(line)
		}
	}
	code := strings.Repeat(`func util(n int) string { return fmt.Sprintf(\"%d of %d\", n, 1<<n) }\n\t// and back\n`, 90)
	text := strings.NewReplacer(`1\talpha\n2\tbeta\n3\tgamma\n4\t`, code, `alpha\nbeta\ngamma\n`, code).Replace(kept.String())
	text = regexp.MustCompile(`"timestamp":"[^"]*"`).ReplaceAllString(text, `"timestamp":"<time>"`)
	if n := strings.Count(text, "\n"); n != 3 || len(text) < 16_000 {
		b.Fatalf("the captured session has %d lines of a turn, %d bytes", n, len(text))
	}
	return &turns{text: text}
}

// next returns a turn at that time. All turns have different IDs of messages, requests and calls.
func (t *turns) next(at time.Time) string {
	text := t.text
	if t.count%10 == 0 {
		text = t.prompt + text
	}
	t.count++
	return strings.NewReplacer("<time>", at.UTC().Format("2006-01-02T15:04:05.000Z"), "_mock_", fmt.Sprintf("_%d_", t.count), `"requestId":"req_`, fmt.Sprintf(`"requestId":"req_%d_`, t.count)).Replace(text)
}

// write writes a transcript of at least n bytes. Its turns begin two hours ago and end now.
func (t *turns) write(b *testing.B, path string, n int64) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	now := time.Now()
	for written := int64(0); written < n; {
		turn := t.next(now.Add(-2 * time.Hour * time.Duration(n-written) / time.Duration(n)))
		if _, err := f.WriteString(turn); err != nil {
			b.Fatal(err)
		}
		written += int64(len(turn))
	}
	if err := f.Sync(); err != nil { // not while a program is being measured
		b.Fatal(err)
	}
}
