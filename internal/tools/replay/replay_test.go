package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
)

var update = flag.Bool("update", false, "rewrite golden files")

// bin is the ctxls under test. It is another program than this one, so no test can start the tests again.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "replay-test-")
	if err != nil {
		panic(err)
	}
	bin = filepath.Join(dir, "ctxls.exe")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "github.com/ctxls/ctxls/cmd/ctxls")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// play plays a recording, "" for the built-in one, as fast as it goes.
func play(t *testing.T, recording string) (string, []moment, error) {
	t.Helper()
	var out bytes.Buffer
	moments, err := run(context.Background(), options{bin: bin, recording: recording, width: 80}, &out)
	return out.String(), moments, err
}

// What differs from run to run.
var (
	duration = regexp.MustCompile(`\d+ ms`)
	version  = regexp.MustCompile(`through ctxls \S+:`)
	// An estimate counts text that names the directory of the replay, and those of temporary directories differ in length.
	estimate = regexp.MustCompile(`~\d[\d,.]*([k/ ])`)
)

func normalised(log string) string {
	log = version.ReplaceAllString(log, "through ctxls VERSION:")
	log = duration.ReplaceAllString(log, "N ms")
	return estimate.ReplaceAllString(log, "~N$1")
}

func TestReplay(t *testing.T) {
	got, moments, err := play(t, "")
	if err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	got = normalised(got)
	golden := filepath.Join("testdata", "replay.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the log differs (-want +got); if that is meant, run with -update:\n%s", diff)
	}
	t.Run("the checker", func(t *testing.T) { testChecker(t, moments) })
}

// Nothing is canned: other figures in the recording are other figures in the log.
func TestOtherFigures(t *testing.T) {
	// The response that brings the session to 143,912 tokens writes 1,802 of them to the cache.
	dir := edited(t, func(text string) string {
		return strings.NewReplacer(`_input_tokens":1802,`, `_input_tokens":11802,`, `_input_tokens":1802}`, `_input_tokens":11802}`).Replace(text)
	})
	got, _, err := play(t, dir)
	if err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	for _, want := range []string{"[context used: 77%]", "77%  153,912/200,000  ~13,0"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(got, "143,912") || strings.Contains(got, "[context used: 72%]") {
		t.Errorf("the old figures are still there")
	}
	if t.Failed() {
		t.Log(got)
	}
}

// A prompt that ctxls does not hear of goes without its mark, and the replay fails.
func TestDroppedHook(t *testing.T) {
	dropped := 0
	dir := edited(t, func(text string) string {
		return regexp.MustCompile(`"hook_event_name":"UserPromptSubmit"(,.*"prompt":"Good)`).ReplaceAllStringFunc(text, func(s string) string {
			dropped++
			return strings.Replace(s, "UserPromptSubmit", "Unheard", 1)
		})
	})
	got, _, err := play(t, dir)
	if dropped != 1 || !errors.Is(err, errFailed) || !strings.Contains(got, `WRONG  prompt 4 was marked [], want`) {
		t.Errorf("%d hooks dropped, %v\n%s", dropped, err, got)
	}
}

// edited returns a directory with a changed copy of the recording.
func edited(t *testing.T, edit func(string) string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"events.jsonl", "transcript.jsonl"} {
		data, err := os.ReadFile(filepath.Join("testdata", "claude-code", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(edit(string(data))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The checker notices each way in which ctxls could go wrong: what really happened passes, and with one thing changed it does not.
func testChecker(t *testing.T, moments []moment) {
	nth := func(ms []moment, n int, is func(moment) bool) *moment {
		for i := range ms {
			if is(ms[i]) {
				if n--; n == 0 {
					return &ms[i]
				}
			}
		}
		t.Fatal("no such moment")
		return nil
	}
	named := func(name string) func(moment) bool { return func(m moment) bool { return m.event.Name == name } }
	reminds := func(m moment) bool { return strings.Contains(m.told, "[Context Status:") }
	for _, test := range []struct {
		name  string
		spoil func([]moment)
		want  string // "" is no failure
	}{
		{"as it was", func([]moment) {}, ""},
		{"no reminder", func(ms []moment) { nth(ms, 1, reminds).told = "" }, "no reminder at 140,288 of 200,000"},
		{"a second reminder", func(ms []moment) {
			nth(ms, 20, named("PostToolBatch")).told = nth(ms, 1, reminds).told
		}, "reminder 2 out of turn"},
		{"a reminder too early", func(ms []moment) {
			nth(ms, 3, named("PostToolBatch")).told = nth(ms, 1, reminds).told
		}, "reminder 1 out of turn, at 47,236 of 200,000 tokens"},
		{"a reminder twice at once", func(ms []moment) { m := nth(ms, 1, reminds); m.told += m.told }, "out of turn"},
		{"a reminder against a million", func(ms []moment) {
			m := nth(ms, 1, reminds)
			m.told = strings.ReplaceAll(m.told, "200,000", "1,000,000")
		}, "the reminder does not say (140,288/200,000 tokens)"},
		{"no mark", func(ms []moment) { nth(ms, 2, named("UserPromptSubmit")).told = "" }, "prompt 2 was marked []"},
		{"a mark before anything is known", func(ms []moment) { nth(ms, 1, named("UserPromptSubmit")).told = "[context used: 0%]" }, "prompt 1 was marked"},
		{"a mark of before the compaction", func(ms []moment) { nth(ms, 5, named("UserPromptSubmit")).told = "[context used: 84%]" }, `prompt 5 was marked ["[context used: 84%]"], want ["[context used: 21%]"]`},
		{"a text for the summary", func(ms []moment) { nth(ms, 1, named("PreCompact")).told = "ctxls: working context" }, "PreCompact was answered"},
		{"a gauge of before the compaction", func(ms []moment) {
			nth(ms, 1, named("PostCompact")).seen = nth(ms, 1, named("PreCompact")).seen
		}, "after PostCompact clients see 167,604 tokens"},
		{"a gauge that stands still", func(ms []moment) {
			nth(ms, 6, named("PostToolBatch")).seen = nth(ms, 5, named("PostToolBatch")).seen
		}, "after PostToolBatch clients see 74,480 of 200,000 tokens, want 88,471"},
		{"another status line", func(ms []moment) {
			m := nth(ms, 9, named(statusLine))
			m.shown = strings.ReplaceAll(m.shown, "%", "0%")
		}, "the status line does not say"},
		{"an end unheard of", func(ms []moment) {
			nth(ms, 1, named("SessionEnd")).seen = nth(ms, 5, named("Stop")).seen
		}, "after SessionEnd clients see"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ms := slices.Clone(moments)
			test.spoil(ms)
			var r checker
			for _, m := range ms {
				r.see(m)
			}
			// What stands at the end is left as it is here: TestReplay has seen it, and each spoilt moment must be noticed by itself.
			got := strings.Join(r.failures, "\n")
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got:\n%s\nwant: %s", got, test.want)
			}
		})
	}
}

func TestWhatStandsAtTheEnd(t *testing.T) {
	rec, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	var r checker
	for _, line := range rec.lines {
		r.line(line)
	}
	r.prompts, r.ended = 5, true
	right := core.SessionView{Compactions: 1, State: core.StateEnded}
	if got := r.end(right, fleet.ContextOptimizationReport{Tasks: 5}, 1); len(got) > 0 {
		t.Errorf("nothing is wrong, and it says %q", got)
	}
	wrong := core.SessionView{Compactions: 2, State: core.StateActive, WorkingSet: make([]string, 21)}
	want := []string{
		"clients see 2 compactions, the transcript has 1", "the session is active at the end", "clients see 21 paths, want at most 20",
		"the report covers 4 tasks, there were 5 prompts", "2 sessions are listed, want 1",
	}
	if diff := cmp.Diff(want, r.end(wrong, fleet.ContextOptimizationReport{Tasks: 4}, 2)); diff != "" {
		t.Error(diff)
	}
}

// What a host would refuse does not reach the agent.
func TestToAgent(t *testing.T) {
	for _, test := range []struct{ name, printed, want, err string }{
		{"PostToolBatch", `{"hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":"a\nb"}}`, "a\nb", ""},
		{"PostToolBatch", "", "", ""},
		{"PreCompact", "plain\ntext\n", "plain\ntext", ""},
		{"PostToolBatch", "plain text", "", "cannot read"},
		{"PostToolBatch", `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"a"}}`, "", `an answer for "Stop"`},
	} {
		got, err := toAgent(test.name, test.printed)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s printed %q: %q, %v", test.name, test.printed, got, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	const start = `{"at":"2026-01-02T03:04:05.000Z","event":"SessionStart","transcriptLines":0,"payload":{"session_id":"s","cwd":"/home/dev/p","transcript_path":"/home/dev/t"}}`
	for _, test := range []struct{ events, want string }{
		{"", "events.jsonl:1: "},
		{"{", "events.jsonl:1: "},
		{start + "\n" + strings.Replace(start, `"transcriptLines":0`, `"transcriptLines":2`, 1), "events.jsonl:2: transcriptLines is 2, the transcript has 1"},
		{start + "\n" + strings.Replace(start, `03:04:05`, `03:04:04`, 1), "events.jsonl:2: earlier than the line before"},
		{strings.Replace(start, `"session_id":"s",`, ``, 1), "events.jsonl:1: want session_id"},
		{strings.Replace(start, `/home/dev/t`, `t`, 1), "events.jsonl:1: want session_id and absolute paths"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"events.jsonl": test.events, "transcript.jsonl": "{}\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := open(dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.events, err, test.want)
		}
	}
}

func Example_wrap() {
	for _, row := range wrap("  - a row that does not fit, kept below its own indentation", 24) {
		fmt.Println(row + "|")
	}
	// Output:
	//   - a row that does not|
	//   fit, kept below its|
	//   own indentation|
}
