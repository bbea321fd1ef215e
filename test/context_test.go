package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/token"
)

// The real server returns kept messages byte for byte: white space, escapes, the form of numbers, duplicate members,
// half of a surrogate pair.
func TestKeptMessagesAreUnchanged(t *testing.T) {
	e := startEditor(t, buildAll(t), t.TempDir())
	old := `{"role":"user","content":"` + strings.Repeat("one two three ", 100) + `"}`
	kept := []string{
		`{ "role" :"system" , "content":"a\/b < & > \u003c" }`,
		"{\t\"content\":\"first\",\"role\":\"user\",\"content\":\"twice \\ud83d and \\u0000\",\"temperature\":1.50,\"n\":1e2,\"big\":12345678901234567890}",
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{ \"path\":\"a\\/b\" }"}}]}`,
		`{"role":"tool",  "tool_call_id":"c1","content":"<|endoftext|> é \ud83d\ude00 ` + "\u2028" + `"}`,
	}
	messages := "[" + kept[0] + " , " + old + ",  " + strings.Join(kept[1:], " ,") + "]"
	for method, params := range map[string]string{
		"context/trim":    `{"targetTokens":100,"messages":` + messages + `}`,
		"context/prepare": `{"taskId":"t","thresholdTokens":200,"targetTokens":100,"messages":` + messages + `}`,
	} {
		var result struct {
			Messages []json.RawMessage `json:"messages"`
			Removed  []int             `json:"removed"`
		}
		reply := e.ask(method, params)
		if err := json.Unmarshal(reply, &result); err != nil {
			t.Fatalf("%s: %v in %s", method, err, reply)
		}
		var got []string
		for _, m := range result.Messages {
			got = append(got, string(m))
		}
		if !slices.Equal(got, kept) {
			t.Errorf("%s kept\n%s\nwant\n%s", method, strings.Join(got, "\n"), strings.Join(kept, "\n"))
		}
		if !slices.Equal(result.Removed, []int{1}) {
			t.Errorf("%s removed %v, want [1]", method, result.Removed)
		}
	}
}

// BenchmarkMeasureOverStdio asks a fresh server for the size of a conversation of 200,000 tokens, prose, calls and files of
// Go's own source tree, then of the same one grown by a message: the median of each, as the client waits for it. On Linux it
// also reports the processor time of the server, which depends less on what else the machine does.
//
//	go test -run '^$' -bench MeasureOverStdio -benchtime 10x ./test
func BenchmarkMeasureOverStdio(b *testing.B) {
	messages := agentSession(b, 200_000)
	bin, home := buildAll(b), b.TempDir()
	params := func(messages []string) string { return `{"messages":[` + strings.Join(messages, ",") + `]}` }
	known, grown := params(messages[:len(messages)-1]), params(messages)
	var first, oneNew, firstWork, oneNewWork []float64
	for b.Loop() {
		e := startEditor(b, bin, home)
		for _, call := range []struct {
			params      string
			times, work *[]float64
		}{{known, &first, &firstWork}, {grown, &oneNew, &oneNewWork}} {
			before, start := worked(b, e.server.Process.Pid), time.Now()
			reply := e.ask("context/measure", call.params)
			*call.times = append(*call.times, float64(time.Since(start))/float64(time.Millisecond))
			*call.work = append(*call.work, float64(worked(b, e.server.Process.Pid)-before)/float64(time.Millisecond))
			var result struct{ Tokens int }
			if err := json.Unmarshal(reply, &result); err != nil || result.Tokens < 190_000 {
				b.Fatalf("%d tokens (%v) in %s", result.Tokens, err, reply)
			}
		}
		e.in.Close()
	}
	for unit, times := range map[string][]float64{"first-ms": first, "one-new-ms": oneNew, "first-work-ms": firstWork, "one-new-work-ms": oneNewWork} {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2], unit)
	}
}

// agentSession returns the messages of a session of at least that many tokens.
func agentSession(b *testing.B, tokens int) []string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http", "*.go"))
	counter, err := token.Get(token.Cl100k)
	if err != nil || len(files) == 0 {
		b.Fatal(err, len(files), " files")
	}
	messages := []string{`{"role":"user","content":"Read the package and say how connections are reused."}`}
	for i, total := 0, 0; total < tokens; i++ {
		source, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			b.Fatal(err)
		}
		text := string(source[:min(len(source), 12_000)])
		content, _ := json.Marshal(text)
		messages = append(messages,
			fmt.Sprintf(`{"role":"assistant","content":"I read on.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"%d.go\"}"}}]}`, i, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%s}`, i, content))
		total += counter.Count(text)
	}
	return messages
}
