package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// own is the thread whose rollout the tests write.
const own = "01a1fd86-50af-7d62-a5b8-a86dbbf4e86f"

// clock dates lines, a second apart.
type clock int

func (c *clock) line(kind, payload string) string {
	*c++
	return fmt.Sprintf(`{"timestamp":"2026-11-21T09:00:%02d.000Z","ordinal":%d,"type":%q,"payload":%s}`+"\n", int(*c), int(*c), kind, payload)
}

func usage(input, output int) string {
	return fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":%d,"cache_write_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d}`, input, input/2, output, input+output)
}

func (c *clock) record(input, output int) string {
	return c.line("token_usage_record", fmt.Sprintf(`{"thread_id":%q,"session_id":%q,"response_id":"r","usage":%s}`, own, own, usage(input, output)))
}

func (c *clock) count(input, output int) string {
	return c.line("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":%s,"last_token_usage":%s,"model_context_window":258400}}`, usage(900_000, 1), usage(input, output)))
}

func (c *clock) call(id string) string {
	return c.line("response_item", fmt.Sprintf(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat a\"}","call_id":%q}`, id))
}

func (c *clock) output(id, text string) string {
	return c.line("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, text))
}

func (c *clock) prompt(text string) string {
	return c.line("response_item", fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text))
}

func write(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollout-2026-11-21T09-00-00-"+own+".jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string, from session.Cursor) session.Reading {
	t.Helper()
	r, err := New(nil).Read(t.Context(), path, from)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outline says of each entry what it is.
func outline(entries []session.Entry) (lines []string) {
	for _, e := range entries {
		var parts []string
		if rep := e.Report; rep != nil {
			late := ""
			if rep.Late {
				late = " late"
			}
			parts = append(parts, fmt.Sprintf("%d%s", rep.Tokens, late))
		}
		if b := e.Boundary; b != nil {
			parts = append(parts, fmt.Sprintf("compacted to %d", b.PostTokens))
		}
		if e.Limit != nil {
			parts = append(parts, "refused")
		}
		for _, p := range e.Content {
			parts = append(parts, string(p.Class))
		}
		for _, p := range e.Paths {
			parts = append(parts, p.Path)
		}
		if parts != nil {
			lines = append(lines, strings.Join(parts, " "))
		}
	}
	return lines
}

func wantOutline(t *testing.T, what string, entries []session.Entry, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, outline(entries)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// A line that is still being written is for the next read, wherever it breaks off.
func TestAHalfWrittenLine(t *testing.T) {
	var c clock
	whole := c.prompt("go") + c.record(1_000, 10)
	last := c.record(2_000, 20)
	for at := range len(last) {
		path := write(t, whole, last[:at])
		first := read(t, path, session.Cursor{})
		wantOutline(t, fmt.Sprint("broken off at ", at), first.Entries, "prompt", "1010")
		if err := os.WriteFile(path, []byte(whole+last), 0o600); err != nil {
			t.Fatal(err)
		}
		wantOutline(t, "the rest", read(t, path, first.Cursor).Entries, "2020")
	}
}

// Usage that another thread has left in the file is no figure of this one.
func TestOtherThreads(t *testing.T) {
	var c clock
	foreign := strings.ReplaceAll(c.record(200_000, 10), `"thread_id":"`+own, `"thread_id":"01a1fe77-4e12-7bf3-beb1-2834d821d41a`)
	path := write(t, c.record(1_000, 10), foreign)
	wantOutline(t, "entries", read(t, path, session.Cursor{}).Entries, "1010")
}

func TestACompaction(t *testing.T) {
	var c clock
	summary := strings.Replace(c.line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"all of it"}]}`),
		`"payload"`, `"metadata":{"compaction_output":true},"payload"`, 1)
	estimate := strings.Replace(c.count(0, 0), `"output_tokens":0,"reasoning_output_tokens":0,"total_tokens":0`, `"output_tokens":0,"reasoning_output_tokens":0,"total_tokens":6061`, 1)
	lines := []string{
		c.prompt("go"), c.call("1"), c.record(240_000, 10), c.output("1", "text"), c.count(240_000, 10), c.count(240_000, 10),
		summary, c.record(241_000, 500), c.count(241_000, 500),
		c.line("compacted", `{"message":"all of it","window_id":"w2"}`), c.line("turn_context", `{"model":"gpt-5.5"}`), estimate,
	}
	path := write(t, lines...)
	start := session.Cursor{}
	if start = read(t, path, start).Cursor; start.Offset == 0 {
		t.Fatal("nothing was read")
	}
	start.Offset = 0
	wantOutline(t, "forward", read(t, path, start).Entries,
		"prompt", "call", "240010", "result", "240010 late", "240010 late", "compacted to 6061")
	wantOutline(t, "first sight", read(t, path, session.Cursor{}).Entries, "compacted to 6061")
	// What the host makes up after a refusal is no figure at all.
	path = write(t, c.record(100_000, 10), estimate, c.line("event_msg", `{"type":"task_complete","error":{"message":"no","codex_error_info":"context_window_exceeded"}}`))
	wantOutline(t, "a refusal", read(t, path, session.Cursor{}).Entries, "100010", "refused")
}

// What one rollout tells of a session, event by event, through the whole domain.
func TestTheOrderTrap(t *testing.T) {
	// Both figures of a response say the same, and neither has the results of its calls in it: those come on top, whether the
	// figure stands before them, behind them, or both. 3,000 characters of "a b c…" are some 1,500 tokens.
	results := strings.Repeat("a ", 1_500)
	for name, lines := range map[string]func(c *clock) []string{
		"record and count": func(c *clock) []string {
			return []string{c.prompt("go"), c.call("1"), c.record(10_000, 100), c.output("1", results), c.count(10_000, 100), c.count(10_000, 100)}
		},
		"record alone": func(c *clock) []string {
			return []string{c.prompt("go"), c.call("1"), c.record(10_000, 100), c.output("1", results)}
		},
		"count alone": func(c *clock) []string {
			return []string{c.prompt("go"), c.call("1"), c.output("1", results), c.count(10_000, 100)}
		},
		"count alone, after another response": func(c *clock) []string {
			return []string{c.prompt("go"), c.call("0"), c.output("0", "little"), c.count(9_000, 100), c.call("1"), c.output("1", results), c.count(10_000, 100)}
		},
	} {
		for _, atOnce := range []bool{true, false} {
			var c clock
			all := lines(&c)
			path := write(t)
			s := newSession(t, path)
			if !atOnce { // a hook after every line
				for i := range all {
					if err := os.WriteFile(path, []byte(strings.Join(all[:i+1], "")), 0o600); err != nil {
						t.Fatal(err)
					}
					s.hook("PostToolUse", `"tool_name":"Bash","tool_input":{"command":"true"}`)
				}
			} else if err := os.WriteFile(path, []byte(strings.Join(all, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			u := s.hook("PostToolUse", `"tool_name":"Bash","tool_input":{"command":"true"}`).Session.Usage
			if u.Tokens == nil || *u.Tokens != 10_100 || *u.Provenance != session.ProvenanceTranscript {
				t.Errorf("%s, at once %v: reported %+v", name, atOnce, u)
				continue
			}
			if p := *u.ProjectedTokens; p < 11_400 || p > 11_800 {
				t.Errorf("%s, at once %v: projected %d, want some 11,600", name, atOnce, p)
			}
			if u.WindowTokens != 258_400 && name != "record alone" {
				t.Errorf("%s: the window is %d (%s)", name, u.WindowTokens, u.WindowProvenance)
			}
		}
	}
}

// Whatever lies in a rollout.
func FuzzRead(f *testing.F) {
	for _, piece := range hosttest.Excerpts(f, "testdata/rollouts/*.jsonl") {
		f.Add(piece, len(piece)/2)
	}
	f.Add([]byte("\x00\r\n{}\n[]\nhalf"), 1)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, first int) {
		hosttest.Reads(t, New(nil), filepath.Join(dir, fmt.Sprint("rollout-", os.Getpid(), "-", own, ".jsonl")), content, first)
	})
}
