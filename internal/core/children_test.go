package core

import (
	"testing"
	"time"
)

// A host that runs sub-agents in sessions of their own: the store knows whose they are, also in a process that never saw them
// begin, and a sub-agent's sub-agent belongs to the session at the top.
func TestChildSessions(t *testing.T) {
	w := newWorld()
	play := func(ev Event) Outcome {
		t.Helper()
		ev.Host = HostOpenCode
		return w.play(t, ev)
	}
	report := func(session string, tokens int) {
		t.Helper()
		play(Event{SessionID: session, Kind: UsageReported, Reports: []Report{{At: whenPlayed, Tokens: tokens, Tuple: UsageTuple{Input: tokens}, Provenance: ProvenanceReported}}})
	}
	play(Event{SessionID: "top", Kind: SessionStarted})
	report("top", 50_000)
	play(Event{SessionID: "top", AgentID: "child", AgentType: "general", Kind: AgentStarted})
	play(Event{SessionID: "child", AgentID: "grandchild", Kind: AgentStarted})
	report("child", 90_000)
	play(Event{SessionID: "child", Kind: ToolFinished, Paths: []PathUse{{Path: "/p/deep.go", Use: Read}}})
	report("grandchild", 10_000)
	out := play(Event{SessionID: "child", Kind: TurnFinished})
	if out.Key.SessionID != "top" || len(w.sessions) != 1 {
		t.Errorf("an event of the child's went to %v; sessions %v", out.Key, w.sessions)
	}
	s := w.sessions[Key{HostOpenCode, "top"}]
	if s.Gauge.Tokens != 50_000 || len(s.Agents) != 2 || len(w.paths) != 0 {
		t.Fatalf("%+v, agents %+v, paths %v", s.Gauge, s.Agents, w.paths)
	}
	child, grandchild := s.Agents[0], s.Agents[1]
	if child.Gauge.Tokens != 90_000 || child.EndedAt.IsZero() || grandchild.Gauge.Tokens != 10_000 || !grandchild.EndedAt.IsZero() {
		t.Errorf("child %+v, grandchild %+v", child, grandchild)
	}

	play(Event{SessionID: "child", Kind: SessionDeleted})
	if s := w.sessions[Key{HostOpenCode, "top"}]; len(s.Agents) != 1 || s.Agents[0].AgentID != "grandchild" {
		t.Errorf("after the child was deleted: %+v", s.Agents)
	}
	play(Event{SessionID: "top", Kind: SessionDeleted})
	if out := play(Event{SessionID: "top", AgentID: "grandchild", Kind: SessionDeleted}); len(w.sessions) != 0 || out.Deleted {
		t.Errorf("a deletion that comes late made %v", w.sessions)
	}
	w.play(t, Event{Host: HostGeneric, SessionID: "a", AgentID: "b", Kind: AgentStarted}, Event{Host: HostGeneric, SessionID: "b", Kind: PromptSubmitted})
	if len(w.sessions) != 2 {
		t.Error("where the host has no such sessions, a name is a name:", w.sessions)
	}
}

// History is told once; what it shows was used when it was, not now. An event that comes late happened when it did.
func TestHistoryAndLateEvents(t *testing.T) {
	w := newWorld()
	old, now := w.now.Add(-time.Hour), w.now
	history := Event{Kind: HistorySeen, Paths: []PathUse{{Path: "/p/old.go", Use: Edited, At: old}}}
	w.play(t, Event{Kind: ToolFinished, Paths: []PathUse{{Path: "/p/new.go", Use: Read}}}, history)
	key := Key{HostClaudeCode, "s"}
	if got := w.paths[key]["/p/old.go"].At; !got.Equal(old) {
		t.Errorf("a file of the history was used at %v", got)
	}
	history.Paths[0].Path = "/p/again.go"
	w.play(t, history)
	if len(w.paths[key]) != 2 {
		t.Errorf("history counts twice: %v", w.paths[key])
	}

	w.now = now.Add(time.Hour)
	w.play(t, Event{Kind: CompactionOpened, At: now}, Event{Kind: CompactionDone, At: now.Add(time.Second)})
	if c := w.sessions[key].Compaction; c.Count != 1 || !c.DoneAt.Equal(now.Add(time.Second)) {
		t.Errorf("told an hour late: %+v", c)
	}
	w.play(t, Event{Kind: PromptSubmitted, At: w.now.Add(time.Hour)})
	if got := w.sessions[key].PromptAt; got.After(w.now) {
		t.Errorf("a prompt from the future: %v", got)
	}
}
