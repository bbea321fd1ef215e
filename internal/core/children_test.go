package core

import (
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Some hosts run sub-agents in their own sessions. The store knows their parents, also in a process that did not see
// them start. A sub-agent's sub-agent belongs to the top session.
func TestChildSessions(t *testing.T) {
	w := newTestEnv()
	play := func(ev session.Event) Outcome {
		t.Helper()
		ev.Host = session.HostOpenCode
		return w.play(t, ev)
	}
	report := func(sess string, tokens int) {
		t.Helper()
		play(session.Event{SessionID: sess, Kind: session.UsageReported, Reports: []session.Report{{At: whenPlayed, Tokens: tokens, Tuple: session.UsageTuple{Input: tokens}, Provenance: session.ProvenanceReported}}})
	}
	play(session.Event{SessionID: "top", Kind: session.SessionStarted})
	report("top", 50_000)
	play(session.Event{SessionID: "top", AgentID: "child", AgentType: "general", Kind: session.AgentStarted})
	play(session.Event{SessionID: "child", AgentID: "grandchild", Kind: session.AgentStarted})
	report("child", 90_000)
	play(session.Event{SessionID: "child", Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/deep.go", Use: session.Read}}})
	report("grandchild", 10_000)
	out := play(session.Event{SessionID: "child", Kind: session.TurnFinished})
	if out.Key.SessionID != "top" || len(w.sessions) != 1 {
		t.Errorf("an event of the child's went to %v; sessions %v", out.Key, w.sessions)
	}
	s := w.sessions[session.Key{Host: session.HostOpenCode, SessionID: "top"}]
	if s.Gauge.Tokens != 50_000 || len(s.Agents) != 2 || len(w.paths) != 0 {
		t.Fatalf("%+v, agents %+v, paths %v", s.Gauge, s.Agents, w.paths)
	}
	child, grandchild := s.Agents[0], s.Agents[1]
	if child.Gauge.Tokens != 90_000 || child.EndedAt.IsZero() || grandchild.Gauge.Tokens != 10_000 || !grandchild.EndedAt.IsZero() {
		t.Errorf("child %+v, grandchild %+v", child, grandchild)
	}

	play(session.Event{SessionID: "child", Kind: session.SessionDeleted})
	if s := w.sessions[session.Key{Host: session.HostOpenCode, SessionID: "top"}]; len(s.Agents) != 1 || s.Agents[0].AgentID != "grandchild" {
		t.Errorf("after the child was deleted: %+v", s.Agents)
	}
	play(session.Event{SessionID: "top", Kind: session.SessionDeleted})
	if out := play(session.Event{SessionID: "top", AgentID: "grandchild", Kind: session.SessionDeleted}); len(w.sessions) != 0 || out.Deleted {
		t.Errorf("a deletion that comes late made %v", w.sessions)
	}
	w.play(t, session.Event{Host: session.HostGeneric, SessionID: "a", AgentID: "b", Kind: session.AgentStarted}, session.Event{Host: session.HostGeneric, SessionID: "b", Kind: session.PromptSubmitted})
	if len(w.sessions) != 2 {
		t.Error("where the host has no such sessions, a name is a name:", w.sessions)
	}
}

// History is sent once, and keeps the original times of its uses. A late event keeps its own time too.
func TestHistoryAndLateEvents(t *testing.T) {
	w := newTestEnv()
	old, now := w.now.Add(-time.Hour), w.now
	history := session.Event{Kind: session.HistorySeen, Paths: []session.PathUse{{Path: "/p/old.go", Use: session.Edited, At: old}}}
	w.play(t, session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/new.go", Use: session.Read}}}, history)
	key := session.Key{Host: session.HostClaudeCode, SessionID: "s"}
	if got := w.paths[key]["/p/old.go"].At; !got.Equal(old) {
		t.Errorf("a file of the history was used at %v", got)
	}
	history.Paths[0].Path = "/p/again.go"
	w.play(t, history)
	if len(w.paths[key]) != 2 {
		t.Errorf("history counts twice: %v", w.paths[key])
	}

	w.now = now.Add(time.Hour)
	w.play(t, session.Event{Kind: session.CompactionOpened, At: now}, session.Event{Kind: session.CompactionDone, At: now.Add(time.Second)})
	if c := w.sessions[key].Compaction; c.Count != 1 || !c.DoneAt.Equal(now.Add(time.Second)) {
		t.Errorf("told an hour late: %+v", c)
	}
	w.play(t, session.Event{Kind: session.PromptSubmitted, At: w.now.Add(time.Hour)})
	if got := w.sessions[key].PromptAt; got.After(w.now) {
		t.Errorf("a prompt from the future: %v", got)
	}
}
