package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The median time of whole processes, from fork to exit, as a host experiences it. The programs run in turns, so that
// other load on the machine affects all of them alike:
//
//	go test -run '^$' -bench Process -benchtime 100x ./test

// transcriptOf writes a transcript of at least n bytes that resembles a host's: answers with usage among larger lines.
func transcriptOf(tb testing.TB, path string, n int64) {
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	filler := `{"type":"attachment","isSidechain":false,"attachment":{"type":"hook_success","content":"` + strings.Repeat("x", 900) + `"}}` + "\n"
	block := []byte(strings.Repeat(filler, 60) + answer(40_000, time.Now().Add(-time.Hour)))
	for written := int64(0); written < n; written += int64(len(block)) {
		if _, err := f.Write(block); err != nil {
			tb.Fatal(err)
		}
	}
}

// answer is a transcript line of a response with the given tokens in its window.
func answer(tokens int, at time.Time) string {
	return fmt.Sprintf(`{"parentUuid":"u","isSidechain":false,"message":{"model":"claude-sonnet-4-6","id":"msg_%d","type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"tool_use","usage":{"input_tokens":12,"cache_creation_input_tokens":900,"cache_read_input_tokens":%d,"output_tokens":77}},"type":"assistant","uuid":"a","timestamp":%q,"sessionId":"s"}`+"\n",
		tokens, tokens-912, at.UTC().Format(time.RFC3339Nano))
}

func BenchmarkProcess(b *testing.B) {
	bin := buildAll(b)
	home := b.TempDir()
	payload := func(event, transcript string, more map[string]any) []byte {
		p := map[string]any{"session_id": filepath.Base(transcript), "transcript_path": transcript, "cwd": "/home/dev/project", "hook_event_name": event}
		for k, v := range more {
			p[k] = v
		}
		data, err := json.Marshal(p)
		if err != nil {
			b.Fatal(err)
		}
		return data
	}
	calls := map[string]any{"tool_calls": []map[string]any{
		{"tool_name": "Read", "tool_input": map[string]string{"file_path": "/home/dev/project/src/main.go"}, "tool_use_id": "t1", "tool_response": "1\tpackage main"},
		{"tool_name": "Read", "tool_input": map[string]string{"file_path": "/home/dev/project/src/util.go"}, "tool_use_id": "t2", "tool_response": "1\tpackage main"},
	}}
	status := map[string]any{"model": map[string]string{"id": "claude-sonnet-4-6"}, "context_window": map[string]any{"context_window_size": 200_000,
		"current_usage": map[string]int{"input_tokens": 12, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 39_088, "output_tokens": 77}}}
	transcripts := map[string]string{}
	for name, size := range map[string]int64{"1MB": 1 << 20, "1GB": 1 << 30} {
		transcripts[name] = filepath.Join(home, name+".jsonl")
		transcriptOf(b, transcripts[name], size)
	}
	programs := []*process{
		{name: "baseline", args: []string{"baseline", filepath.Join(home, "baseline.db")}},
		{name: "hook", args: []string{"ctxls", "hook", "claude-code"}, transcript: transcripts["1MB"], stdin: payload("PostToolBatch", transcripts["1MB"], calls)},
		{name: "statusline", args: []string{"ctxls", "statusline"}, transcript: transcripts["1MB"], stdin: payload("Status", transcripts["1MB"], status)},
		{name: "hook-1GB", args: []string{"ctxls", "hook", "claude-code"}, transcript: transcripts["1GB"], stdin: payload("PostToolBatch", transcripts["1GB"], calls)},
	}
	turn := func(i int) {
		for _, p := range programs {
			if p.transcript != "" {
				appendTo(b, p.transcript, answer(40_000+i, time.Now()))
			}
			p.run(b, bin, home)
		}
	}
	turn(0) // the first reading of a transcript fills the working set from up to 16 MiB of history, once a session
	for _, p := range programs {
		p.times = nil
	}
	for i := 1; b.Loop(); i++ {
		turn(i)
	}
	for _, p := range programs {
		slices.Sort(p.times)
		b.ReportMetric(float64(p.times[len(p.times)/2].Microseconds())/1000, p.name+"-ms")
		b.ReportMetric(float64(p.peak)/(1<<20), p.name+"-MiB")
	}
	b.ReportMetric(0, "ns/op")
}

// process is one measured program, and its results so far.
type process struct {
	name       string
	args       []string
	stdin      []byte
	transcript string
	times      []time.Duration
	peak       int64 // bytes
}

func (p *process) run(b *testing.B, bin, home string) {
	b.Helper()
	cmd := measured(b, bin, time.Minute, append([]string{filepath.Join(bin, p.args[0])}, p.args[1:]...)...)
	cmd.Stdin, cmd.Stdout = bytes.NewReader(p.stdin), io.Discard
	cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "PATH=" + os.Getenv("PATH")}
	cmd.Dir = home
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	took, peak := measure(b, bin)
	p.times = append(p.times, took)
	p.peak = max(p.peak, peak)
}

// measured returns a command that runs a program, at most for limit, so that measure can report its cost.
func measured(b *testing.B, bin string, limit time.Duration, command ...string) *exec.Cmd {
	return exec.Command(filepath.Join(bin, "timed"), append([]string{filepath.Join(bin, "figures"), limit.String()}, command...)...)
}

// measure returns the time and the bytes of memory of the last measured program.
func measure(b *testing.B, bin string) (took time.Duration, peak int64) {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(bin, "figures"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), (*int64)(&took), &peak); err != nil {
		b.Fatalf("%q: %v", text, err)
	}
	return took, peak
}

func appendTo(tb testing.TB, path, text string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		tb.Fatal(err)
	}
}
