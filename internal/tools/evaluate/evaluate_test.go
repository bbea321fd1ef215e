package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
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
		tr.line(`{"isSidechain":false,"sessionId":"s-%[4]s","type":"assistant","timestamp":"2026-01-01T10:%02[1]d:%02[2]d.000Z","message":{"id":"%[4]s-%[3]d","model":%[4]q,"content":[%[5]s],"stop_reason":null,"usage":{"input_tokens":1,"cache_read_input_tokens":%[6]d,"output_tokens":1}}}`,
			tr.count/60, tr.count%60, tr.count, tr.model, block, tr.input-1)
	}
	tr.line(`{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}}`, tr.count, quoted(printed))
	tr.line(`{"isSidechain":true,"sessionId":"s","type":"user","message":{"role":"user","content":%s}}`, quoted(strings.Repeat("inside a sub-agent ", 500)))
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
			rows[section+": "+strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(strings.TrimSpace(strings.Join(cells[1:], " | ")), " |")
		}
	}
	off := func(calls int) string {
		n := float64(calls) * (growth - plain)
		return fmt.Sprintf("%.0f / %.0f", n, n)
	}
	relative := 100 * (growth - plain) / growth
	raw := fmt.Sprintf("%.1f / %.1f %% | %s | %s | %s | –", relative, relative, off(1), off(5), off(10))
	if got := rows["Methods: tiktoken (cl100k_base)"]; !near(got, raw) {
		t.Errorf("tiktoken: %s, want %s", got, raw)
	}
	for _, method := range []string{"ctxls", "ctxls, learning from session to session"} {
		if got := rows["Methods: "+method]; !strings.HasPrefix(got, "0.0 / 0.0 % | 0 / 0 | ") || !strings.HasSuffix(got, " | –") {
			t.Errorf("%s: %s", method, got)
		}
	}
	for name, sessions := range map[string]string{"claude-opus-4-6": "1 | 11", "claude-sonnet-4-5": "1 | 11", allModels: "2 | 22"} {
		if got, want := rows["Models: "+name], sessions+" | 0.0 / 0.0 % | 100 % (0 %) | 100 % (0 %) | 100 % (0 %) | –"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Each step of the formula reads something that the one before left out: attachments, their constants, the overhead of a result whose
// output is reported, and the tokenizer of newer models.
func TestSteps(t *testing.T) {
	dir := t.TempDir()
	tr := transcript{model: "claude-opus-5", input: 20_000}
	printed := strings.Repeat("1234 file.go\n", 200)
	cl100k, err := token.Get(token.Cl100k)
	if err != nil {
		t.Fatal(err)
	}
	snippet := strings.Repeat("a line that somebody else wrote\n", 50)
	growth := 300 + 10 + 80 + 1.39*(1.18*float64(cl100k.Count(printed))+1.18*float64(cl100k.Count(snippet)))
	for range 12 {
		tr.respond("words", printed, int(growth+0.5))
		tr.line(`{"isSidechain":false,"sessionId":"s","type":"attachment","attachment":{"type":"edited_text_file","filename":"/w/a.go","snippet":%s}}`, quoted(snippet))
	}
	for i := range tr.lines {
		tr.lines[i] = strings.NewReplacer(`"stop_reason":null`, `"stop_reason":"tool_use"`, `"output_tokens":1}`, `"output_tokens":300}`).Replace(tr.lines[i])
	}
	tr.write(t, filepath.Join(dir, "a.jsonl"))
	all, err := load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	h := all.hosts[session.HostClaudeCode]
	results := measure("anthropic", h.sessions)
	last := math.Inf(1)
	for _, step := range steps {
		first := results[0].growth[step.title][0] // before anything was learned
		if math.Abs(first-last) < 0.1 {
			t.Errorf("%s: %.2f %% as before", step.title, first)
		}
		last = first
	}
	if ours := results[0].growth[oursTitle][0]; last > 0.1 || math.Abs(ours-last) > 0.01 {
		t.Errorf("the last step errs by %.2f %%, ctxls by %.2f %%", last, ours)
	}
}

// A report that comes after the results of its calls belongs to the answer before them, as Codex writes it.
func TestLateReports(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	line := func(kind, payload string) {
		fmt.Fprintf(&b, `{"timestamp":"2026-09-01T10:00:%02d.000Z","type":%q,"payload":%s}`+"\n", strings.Count(b.String(), "\n"), kind, payload)
	}
	cl100k, err := token.Get(token.Cl100k)
	if err != nil {
		t.Fatal(err)
	}
	printed := strings.Repeat("1234 file.go\n", 100)
	line("session_meta", `{"id":"01990000-0000-7000-8000-000000000001","cwd":"/w","cli_version":"0.169.0"}`)
	input, growth := 10_000, 200+cl100k.Count(printed)+8
	for i := range 8 {
		line("response_item", fmt.Sprintf(`{"type":"function_call","name":"shell","arguments":"{}","call_id":"c%d"}`, i))
		line("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":%s}`, i, quoted(printed)))
		line("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"last_token_usage":{"input_tokens":%d,"output_tokens":200,"total_tokens":%d},"model_context_window":258400}}`, input, input+200))
		input += growth
	}
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-09-01T10-00-00-01990000-0000-7000-8000-000000000001.jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	results := measure("openai", all.hosts[session.HostCodex].sessions)
	for i, off := range results[0].growth[oursTitle] {
		if off > 0.1 {
			t.Errorf("growth %d is %.2f %% off", i, off)
		}
	}
	if n := results[0].pairs; n != 7 {
		t.Errorf("%d pairs", n)
	}
	for _, off := range results[0].context[oursTitle][5] {
		if off > 5*200 { // the outputs are not known then, and the calls cost less
			t.Errorf("after 5 responses %.0f off", off)
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
	earlier := transcript{lines: tr.lines[:8]}
	earlier.write(t, filepath.Join(dir, "0.jsonl"))
	tr.write(t, filepath.Join(dir, "agent-1.jsonl"))
	responses := func(dir string) (records, recording) {
		t.Helper()
		all, err := load(t.Context(), dir)
		if err != nil || len(all.hosts) != 1 || len(all.hosts[session.HostClaudeCode].sessions) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		return all, all.hosts[session.HostClaudeCode].sessions[0]
	}
	all, plain := responses(dir)
	if all.Agents != 1 || all.Copies != 2 || len(plain) != 6 {
		t.Fatalf("%d of sub-agents, %d copies, %d responses", all.Agents, all.Copies, len(plain))
	}
	tr.lines[0] = strings.Replace(tr.lines[0], `{"type":"text"`, `{"type":"thinking","thinking":"`+strings.Repeat("perhaps ", 100)+`","signature":"x"},{"type":"text"`, 1)
	thoughtful := t.TempDir()
	tr.write(t, filepath.Join(thoughtful, "a.jsonl"))
	if _, found := responses(thoughtful); found[0].tokens < plain[0].tokens+100 {
		t.Errorf("%d tokens with a thought, %d without", found[0].tokens, plain[0].tokens)
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
	all, err := load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	l := all.hosts[session.HostClaudeCode].lives
	if len(l.forecasts.ratios) == 0 || len(l.known.ratios) != len(l.forecasts.ratios) || len(l.after) != 1 || l.reports < 17 || len(l.above) > 0 {
		t.Fatalf("%+v", l)
	}
	if share := float64(l.known.inRange) / float64(len(l.known.ratios)); share < 0.7 {
		t.Errorf("of %d forecasts %.0f %% are right: %v", len(l.known.ratios), 100*share, l.known.ratios)
	}
	if l.after[0] > 12_000 {
		t.Errorf("after the compaction the estimate is off by %.0f", l.after[0])
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
	results := measure("anthropic", found.hosts[session.HostClaudeCode].sessions)
	all := results[len(results)-1]
	at := func(method string, share float64) float64 { return quantile(all.growth[method], share) }
	reference, plain := steps[published].title, "tiktoken (cl100k_base)"
	for _, share := range []float64{0.5, 0.9} {
		if got, bar := at(oursTitle, share), at(reference, share); got > bar {
			t.Errorf("%.0f %% of growths are off by up to %.3f %%, with the formula as published first %.3f %%", 100*share, got, bar)
		}
	}
	if got, bar := at(oursTitle, 0.5), at(plain, 0.5)/3; got > bar {
		t.Errorf("half of the growths are off by up to %.3f %%, a third of a plain count is %.3f %%", got, bar)
	}
}
