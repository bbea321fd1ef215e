package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/token"
)

// transcript writes what a session of Claude Code writes, with the growth of its context chosen by the test.
type transcript struct {
	lines []string
	model string
	input int
	count int // of responses
}

func (tr *transcript) line(format string, args ...any) {
	tr.lines = append(tr.lines, fmt.Sprintf(format, args...))
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// respond writes a response of two lines that calls Bash, and what that printed. The context grows by as many tokens.
func (tr *transcript) respond(said, printed string, growth int) {
	tr.count++
	for _, block := range []string{
		`{"type":"text","text":` + quoted(said) + `}`,
		fmt.Sprintf(`{"type":"tool_use","id":"c%d","name":"Bash","input":{}}`, tr.count),
	} {
		tr.line(`{"isSidechain":false,"type":"assistant","timestamp":"2026-01-01T10:%02[1]d:%02[2]d.000Z","message":{"id":"%[4]s-%[3]d","model":%[4]q,"content":[%[5]s],"stop_reason":null,"usage":{"input_tokens":1,"cache_read_input_tokens":%[6]d,"output_tokens":1}}}`,
			tr.count/60, tr.count%60, tr.count, tr.model, block, tr.input-1)
	}
	tr.line(`{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}}`, tr.count, quoted(printed))
	tr.line(`{"isSidechain":true,"type":"user","message":{"role":"user","content":%s}}`, quoted(strings.Repeat("inside a sub-agent ", 500)))
	tr.input += growth
}

func (tr *transcript) write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(tr.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Sessions whose contexts grow exactly as the class model says are predicted exactly; a plain count errs by what it leaves
// out, and the difference across a compaction is nobody's to predict.
func TestExactSessions(t *testing.T) {
	cl100k, err := token.Get(token.Cl100k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	said, printed := strings.Repeat("some words here ", 50), strings.Repeat("1234 file.go\n", 200)
	plain := float64(cl100k.Count(said) + cl100k.Count("{}") + cl100k.Count(printed))
	growth := 1.18*float64(cl100k.Count(said)) + 55 + 1.14*float64(cl100k.Count("{}")) + 30 + 1.20*float64(cl100k.Count(printed))
	for name, model := range map[string]string{"a.jsonl": "claude-opus-4-6", "b.jsonl": "claude-sonnet-4-5-20250929"} {
		tr := transcript{model: model, input: 20_000}
		for range 12 {
			tr.respond(said, printed, int(growth+0.5))
		}
		tr.line(`{"type":"system","subtype":"compact_boundary","uuid":"b","timestamp":"2026-01-01T10:50:00.000Z","compactMetadata":{"preTokens":50000}}`)
		tr.line(`{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"a summary"}}`)
		tr.input, tr.count = 12_000, 3000 // minutes later
		tr.respond(said, printed, 0)
		tr.write(t, filepath.Join(dir, name))
	}
	var out strings.Builder
	if err := run(t.Context(), dir, &out); err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	section := ""
	for line := range strings.Lines(out.String()) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			section = strings.TrimSpace(title)
		}
		if cells := strings.Split(line, " | "); len(cells) > 1 {
			rows[section+" "+strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(strings.TrimSpace(strings.Join(cells[1:], " | ")), " |")
		}
	}
	off := func(calls int) string {
		n := float64(calls) * (growth - plain)
		return fmt.Sprintf("%.0f / %.0f", n, n)
	}
	relative := 100 * (growth - plain) / growth
	raw := fmt.Sprintf("%.1f / %.1f %% | %s | %s | %s | –", relative, relative, off(1), off(5), off(10))
	for _, model := range []string{"claude-opus-4-6", "claude-sonnet-4-5", "all models"} {
		for _, method := range []string{"ctxls", "ctxls, learning from session to session", "reference, k running", "reference, k fixed"} {
			if got := rows[model+" "+method]; !strings.HasPrefix(got, "0.0 / 0.0 % | 0 / 0 | ") || !strings.HasSuffix(got, " | –") {
				t.Errorf("%s, %s: %s", model, method, got)
			}
		}
		if got := rows[model+" tiktoken (cl100k_base)"]; !near(got, raw) {
			t.Errorf("%s, tiktoken: %s, want %s", model, got, raw)
		}
	}
	for _, want := range []string{"Pairs of consecutive responses: 11. Sessions: 1.", "Pairs of consecutive responses: 22. Sessions: 2.", "inside our band (below it): 100 % (0 %) after 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// near compares figures that may differ by the rounding of each growth to whole tokens.
func near(got, want string) bool {
	a, b := strings.Fields(got), strings.Fields(want)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		var x, y float64
		_, errX := fmt.Sscan(a[i], &x)
		_, errY := fmt.Sscan(b[i], &y)
		if (errX == nil) != (errY == nil) || errX != nil && a[i] != b[i] || x-y > 5 || y-x > 5 {
			return false
		}
	}
	return true
}

// Files of sub-agents and copies of sessions are no sessions, and a plain count has an answer's thoughts, too.
func TestWhatIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	tr := transcript{model: "claude-opus-4-6", input: 20_000}
	for range 6 {
		tr.respond("words", "1234 file.go", 500)
	}
	tr.write(t, filepath.Join(dir, "a.jsonl"))
	tr.write(t, filepath.Join(dir, "a-copy.jsonl"))
	tr.write(t, filepath.Join(dir, "agent-1.jsonl"))
	plain, err := load(t.Context(), dir)
	if err != nil || len(plain.sessions) != 1 || plain.agents != 1 || plain.copies != 1 {
		t.Fatalf("%d sessions, %d of sub-agents, %d copies, %v", len(plain.sessions), plain.agents, plain.copies, err)
	}
	tr.lines[0] = strings.Replace(tr.lines[0], `{"type":"text"`, `{"type":"thinking","thinking":"`+strings.Repeat("perhaps ", 100)+`","signature":"x"},{"type":"text"`, 1)
	thoughtful := t.TempDir()
	tr.write(t, filepath.Join(thoughtful, "a.jsonl"))
	found, err := load(t.Context(), thoughtful)
	if err != nil || found.sessions[0][0].tokens < plain.sessions[0][0].tokens+100 {
		t.Errorf("%d tokens with a thought, %d without, %v", found.sessions[0][0].tokens, plain.sessions[0][0].tokens, err)
	}
}

// What a client would see is measured, too: forecasts by the compaction that came, the estimate after it, and every report by its window.
func TestForecastsAndCompactions(t *testing.T) {
	tr := transcript{model: "claude-sonnet-5", input: 20_000}
	for turn := range 16 {
		tr.line(`{"isSidechain":false,"type":"user","timestamp":"2026-01-01T10:%02d:%02d.500Z","message":{"role":"user","content":"turn %d"}}`, tr.count/60, tr.count%60, turn)
		tr.respond("words", "1234 file.go", 60_000)
	}
	tr.line(`{"type":"system","subtype":"compact_boundary","uuid":"b","timestamp":"2026-01-01T10:50:00.000Z","compactMetadata":{"trigger":"auto","preTokens":968000}}`)
	tr.line(`{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"a summary"}}`)
	tr.input, tr.count = 300_000, 3060
	tr.respond("words", "1234 file.go", 0)
	tr.respond("words", "1234 file.go", 0)
	dir := t.TempDir()
	tr.write(t, filepath.Join(dir, "a.jsonl"))
	found, err := load(t.Context(), dir)
	l := found.lives
	if err != nil || l.forecasts == 0 || len(l.afterOurs) != 1 || l.reports < 17 || len(l.above) > 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	if share := float64(l.inRange) / float64(l.forecasts); share < 0.7 {
		t.Errorf("of %d forecasts %.0f %% are right: %v", l.forecasts, 100*share, l.ratios)
	}
	if l.afterOurs[0] > 12_000 {
		t.Errorf("after the compaction the estimate is off by %.0f", l.afterOurs[0])
	}
}

func TestNothingToEvaluate(t *testing.T) {
	for name, dir := range map[string]string{"an empty directory": t.TempDir(), "no directory": filepath.Join(t.TempDir(), "none")} {
		if err := run(t.Context(), dir, os.Stderr); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// On recorded sessions the estimator errs no more than the published formula, and a third as much as a plain count.
func TestRecordedSessions(t *testing.T) {
	dir := os.Getenv("CTXLS_SAMPLES")
	if dir == "" {
		t.Skip("CTXLS_SAMPLES names no directory of transcripts")
	}
	found, err := load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	results := measure(found.sessions)
	all := results[len(results)-1]
	at := func(method string, share float64) float64 { return quantile(all.growth[method], share) }
	const ours, reference, plain = "ctxls", "reference, k running", "tiktoken (cl100k_base)"
	for _, share := range []float64{0.5, 0.9} {
		if got, bar := at(ours, share), at(reference, share); got > bar {
			t.Errorf("%.0f %% of growths are off by up to %.3f %%, with the published formula %.3f %%", 100*share, got, bar)
		}
	}
	if got, bar := at(ours, 0.5), at(plain, 0.5)/3; got > bar {
		t.Errorf("half of the growths are off by up to %.3f %%, a third of a plain count is %.3f %%", got, bar)
	}
}
