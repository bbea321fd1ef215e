package codex

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/store"
)

// session plays hooks of one session through the whole domain, against a store.
type rig struct {
	t       *testing.T
	service *core.Service
	rollout string
	cfg     settings.Config
	said    string // by the last hook
}

func newSession(t *testing.T, rollout string) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{URL: filepath.Join(t.TempDir(), "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	counter, err := token.Get(session.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	played := &rig{t: t, rollout: rollout, cfg: settings.Default()}
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	played.service = &core.Service{
		Store: s, Adapters: map[session.Host]core.Adapter{Name: New(nil)}, Counter: counter, Log: slog.New(slog.DiscardHandler),
		Config: func(string) settings.Config { return played.cfg }, Now: func() time.Time { now = now.Add(time.Second); return now },
		DirExists: func(string) bool { return false },
	}
	return played
}

// hook plays one event with the given members beside those that every payload has.
func (s *rig) hook(event, members string) core.Outcome {
	s.t.Helper()
	if members != "" {
		members = "," + members
	}
	payload := fmt.Sprintf(`{"session_id":"s","cwd":"/w","hook_event_name":%q,"model":"gpt-5.5","transcript_path":%q%s}`, event, s.rollout, members)
	out, said, err := s.service.Hook(s.t.Context(), Name, "", []byte(payload))
	if err != nil {
		s.t.Fatalf("%s: %v", event, err)
	}
	s.said = ""
	if said != nil {
		var answer struct {
			HookSpecificOutput struct{ HookEventName, AdditionalContext string }
		}
		if err := json.Unmarshal(said, &answer); err != nil || answer.HookSpecificOutput.HookEventName != event {
			s.t.Fatalf("%s is answered with %s", event, said)
		}
		s.said = answer.HookSpecificOutput.AdditionalContext
	}
	return out
}

// turns is how many prompts the session has had.
func (s *rig) turns() int {
	s.t.Helper()
	stored, err := s.service.Store.Session(s.t.Context(), session.Key{Host: Name, SessionID: "s"})
	if err != nil {
		s.t.Fatal(err)
	}
	return stored.Session.Turns
}

func (s *rig) wantSaid(what, want string) {
	s.t.Helper()
	if s.said != want {
		s.t.Errorf("%s (-want +got):\n%s", what, cmp.Diff(want, s.said))
	}
}

// A session from its start over a compaction to its end, and what is said in it.
func TestSession(t *testing.T) {
	var c clock
	s := newSession(t, write(t, c.line("event_msg", `{"type":"task_started","model_context_window":258400}`)))
	s.hook("SessionStart", `"source":"startup"`)
	if !strings.HasPrefix(s.said, "ctxls measures how full") {
		t.Errorf("at the start: %q", s.said)
	}
	s.hook("UserPromptSubmit", `"prompt":"look at src/a.go"`)
	s.wantSaid("nothing is known yet", "")

	s.rollout = write(t, c.prompt("look at src/a.go"), c.call("1"), c.record(190_000, 100))
	out := s.hook("PostToolUse", `"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: b.go\n*** End Patch"}`)
	s.wantSaid("the reminder is for Claude alone", "")
	if u := out.Session.Usage; *u.Tokens != 190_100 || u.WindowTokens != 258_400 || u.CompactionTokens == nil || *u.CompactionTokens != 244_800 {
		t.Errorf("usage %+v", u)
	}
	s.hook("UserPromptSubmit", `"prompt":"go on"`)
	s.wantSaid("the mark", "[context used: 74%]")
	typed := `"turn_id":"t2","prompt":"and on"`
	turns := s.turns()
	s.hook("UserPromptSubmit", typed)
	s.wantSaid("the next mark", "[context used: 74%]")
	s.hook("UserPromptSubmit", typed)
	s.wantSaid("the same prompt, by a second hook", "")
	s.hook("UserPromptSubmit", `"turn_id":"t2","prompt":"no, wait"`)
	s.wantSaid("more of the same turn", "[context used: 74%]")
	if n := s.turns() - turns; n != 2 {
		t.Errorf("two prompts are %d", n)
	}
	s.hook("UserPromptSubmit", `"prompt":"<subagent_notification>\n{}\n</subagent_notification>"`)
	s.wantSaid("a turn that no person typed", "")

	s.cfg.Reminder.AnthropicOnly = false
	s.hook("PostToolUse", `"tool_name":"Bash","tool_input":{"command":"true"}`)
	if !strings.Contains(s.said, "[Context Status: 73.6% used (190,100/258,400 tokens), 26.4% remaining]") {
		t.Errorf("the reminder for everybody: %q", s.said)
	}
	s.hook("PostToolUse", `"tool_name":"Bash","tool_input":{"command":"true"}`)
	s.wantSaid("the reminder comes once", "")

	s.hook("PreCompact", `"trigger":"manual"`)
	s.wantSaid("nothing reaches the summariser", "")
	out = s.hook("PostCompact", `"trigger":"manual"`)
	s.wantSaid("PostCompact takes nothing", "")
	if out.Session.Compactions != 1 || out.Session.Usage.Exact {
		t.Errorf("after the compaction: %+v", out.Session)
	}
	s.hook("SessionStart", `"source":"compact"`)
	s.wantSaid("after the compaction", "ctxls: working context\nCurrent file paths in context:\n  - b.go\n  - src/a.go")
	out = s.hook("UserPromptSubmit", `"prompt":"go on"`)
	s.wantSaid("an estimate is not told", "")
	if out.Session.Compactions != 1 {
		t.Errorf("one compaction, told of three times, is %d", out.Session.Compactions)
	}
	if out = s.hook("SessionEnd", `"reason":"other"`); out.Session.State != core.StateEnded {
		t.Errorf("the session is %s", out.Session.State)
	}
}

// Where there is room for some paths only, those that there was no room for are counted.
func TestTheWholeWorkingContext(t *testing.T) {
	s := newSession(t, "")
	patch := "*** Begin Patch\n"
	for i := range 25 {
		patch += fmt.Sprintf("*** Add File: f%02d.go\n+x\n", i)
	}
	text, _ := json.Marshal(patch)
	s.hook("PostToolUse", fmt.Sprintf(`"tool_name":"apply_patch","tool_input":{"command":%s}`, text))
	s.hook("PreCompact", "")
	s.hook("SessionStart", `"source":"compact"`)
	if n := strings.Count(s.said, "\n  - "); n != 20 || !strings.HasSuffix(s.said, "\n  ... and 5 more paths") {
		t.Errorf("%d paths: %q", n, s.said)
	}
	// So too where nothing announced the compaction.
	s = newSession(t, "")
	s.hook("PostToolUse", fmt.Sprintf(`"tool_name":"apply_patch","tool_input":{"command":%s}`, text))
	s.hook("SessionStart", `"source":"compact"`)
	if !strings.HasSuffix(s.said, "\n  ... and 5 more paths") {
		t.Errorf("unannounced: %q", s.said)
	}
}

// A sub-agent has a gauge of its own, from a rollout of its own. It adds nothing to the main chain, and is told nothing.
func TestSubAgents(t *testing.T) {
	var c clock
	s := newSession(t, write(t, c.record(50_000, 10)))
	s.hook("PostToolUse", `"tool_name":"spawn_agent","tool_input":{"message":"look"}`)
	main := s.rollout
	s.rollout = write(t, c.line("event_msg", `{"type":"task_started","model_context_window":128000}`), c.record(200_000, 10))
	agent := `"agent_id":"a1","agent_type":"default"`
	s.hook("SubagentStart", agent)
	s.wantSaid("the sub-agent's start", "")
	s.hook("UserPromptSubmit", agent+`,"prompt":"look at x/y.go"`)
	s.wantSaid("the sub-agent's prompt", "")
	out := s.hook("PostToolUse", agent+`,"tool_name":"Bash","tool_input":{"command":"cat src/a.go"}`)
	if got := *out.Session.Usage.Tokens; got != 50_010 || len(out.Session.WorkingSet) != 0 {
		t.Errorf("main: %d tokens, files %q", got, out.Session.WorkingSet)
	}
	if a := out.Session.Agents; len(a) != 1 || *a[0].Usage.Tokens != 200_010 || a[0].Usage.WindowTokens != 128_000 || a[0].AgentType != "default" {
		t.Errorf("agents: %+v", a)
	}
	last := s.rollout
	s.rollout = main
	out = s.hook("SubagentStop", agent+fmt.Sprintf(`,"agent_transcript_path":%q`, last))
	if got := *out.Session.Usage.Tokens; got != 50_010 || len(out.Session.Agents) != 0 {
		t.Errorf("after its end: %d tokens, %d agents", got, len(out.Session.Agents))
	}
}
