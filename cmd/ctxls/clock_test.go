package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/ui"
)

// A clock jumps forward and back between hooks, by more than a minute, the tolerance for concurrent hooks. Hosts date
// their records by the same clock. The gauge still follows every report, a compaction begins and ends, and no age is
// negative.
func TestAClockThatJumps(t *testing.T) {
	const day = 24 * time.Hour
	jumps := []time.Duration{0, 365 * day, -365 * day, 10 * time.Minute, -2 * time.Minute, 20 * 365 * day, -21 * 365 * day, time.Hour, -time.Hour, day}
	lines := map[session.Host]func(at string, tokens int) string{
		session.HostClaudeCode: func(at string, tokens int) string {
			return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"id":"m%d","role":"assistant","model":"claude-opus-4-6","content":[],"stop_reason":"end_turn","usage":{"input_tokens":%[2]d}}}`+"\n", at, tokens)
		},
		session.HostCodex: func(at string, tokens int) string {
			return fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":%d,"total_tokens":%[2]d},"model_context_window":258400}}}`+"\n", at, tokens)
		},
		session.HostGeminiCLI: func(at string, tokens int) string {
			return fmt.Sprintf(`{"id":"m%d","type":"gemini","timestamp":%q,"tokens":{"input":%[1]d}}`+"\n", tokens, at)
		},
		session.HostGeneric: nil, // it has neither a record nor its own times
	}
	for host, line := range lines {
		t.Run(string(host), func(t *testing.T) {
			now := noon
			s := serviceAt(t, t.TempDir(), func() time.Time { return now })
			path := filepath.Join(t.TempDir(), "rollout-01a1fd86-50af-7d62-a5b8-a86dbbf4e86f.jsonl")
			hook := func(payload string) core.SessionView {
				t.Helper()
				now = now.Add(time.Second)
				out, _, err := s.Hook(t.Context(), host, "", []byte(payload))
				if err != nil {
					t.Fatal(err)
				}
				if shown := table(t, out.Session, now); regexp.MustCompile(`[ (]-\d`).MatchString(shown) {
					t.Errorf("an age below zero:\n%s", shown)
				}
				return out.Session
			}
			tokens := 20_000
			report := func() core.SessionView {
				t.Helper()
				tokens += 100
				if line == nil {
					return hook(fmt.Sprintf(`{"event":"usage/reported","sessionId":"s","tokens":%d}`, tokens))
				}
				f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := f.WriteString(line(now.Add(500*time.Millisecond).Format(time.RFC3339Nano), tokens)); err != nil {
					t.Fatal(err)
				}
				event := map[session.Host]string{session.HostGeminiCLI: "AfterAgent"}[host]
				if event == "" {
					event = "Stop"
				}
				return hook(fmt.Sprintf(`{"session_id":"s","transcript_path":%q,"hook_event_name":%q}`, filepath.ToSlash(path), event))
			}
			for i, jump := range jumps {
				now = now.Add(jump)
				for range 2 {
					if u := report().Usage; u.Tokens == nil || *u.Tokens != tokens || !u.Exact {
						t.Fatalf("after jump %d, by %v: %+v, want %d tokens", i, jump, u, tokens)
					}
				}
				if host != session.HostGeneric {
					continue
				}
				agent := hook(fmt.Sprintf(`{"event":"usage/reported","sessionId":"s","agentId":"a","tokens":%d}`, tokens)).Agents
				if len(agent) != 1 || *agent[0].Usage.Tokens != tokens {
					t.Errorf("after jump %d, by %v: the sub-agent has %d tokens, want %d", i, jump, *agent[0].Usage.Tokens, tokens)
				}
			}
		})
	}
}

// A compaction is announced under one clock, and ends or is canceled under another.
func TestAClockThatJumpsInACompaction(t *testing.T) {
	for _, jump := range []time.Duration{-365 * 24 * time.Hour, -time.Hour, 0, time.Hour, 365 * 24 * time.Hour} {
		for _, end := range []string{`{"event":"compaction/done","sessionId":"s","postTokens":5000}`, `{"event":"usage/reported","sessionId":"s","tokens":150000}`} {
			now := noon
			s := serviceAt(t, t.TempDir(), func() time.Time { return now })
			hook := func(payload string) core.SessionView {
				t.Helper()
				now = now.Add(time.Second)
				out, _, err := s.Hook(t.Context(), session.HostGeneric, "", []byte(payload))
				if err != nil {
					t.Fatal(err)
				}
				return out.Session
			}
			hook(`{"event":"usage/reported","sessionId":"s","tokens":100000}`)
			if !hook(`{"event":"compaction/opening","sessionId":"s"}`).Compacting {
				t.Fatal("it is not announced")
			}
			now = now.Add(jump)
			done := strings.Contains(end, "done")
			view := hook(end)
			if view.Compacting || view.Compactions > 0 != done {
				t.Errorf("after a jump by %v and %s: compacting %v, %d compactions", jump, end, view.Compacting, view.Compactions)
			}
			if u := hook(`{"event":"usage/reported","sessionId":"s","tokens":7000}`).Usage; *u.Tokens != 7000 || !u.Exact {
				t.Errorf("after a jump by %v and %s: %d tokens are shown, want 7000", jump, end, *u.Tokens)
			}
		}
	}
}

// table returns a session as the CLI prints it.
func table(t *testing.T, view core.SessionView, now time.Time) string {
	t.Helper()
	var shown strings.Builder
	if err := ui.Sessions(&shown, []core.SessionView{view}, now, ui.Style{}); err != nil {
		t.Fatal(err)
	}
	return shown.String()
}
