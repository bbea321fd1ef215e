package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// A sub-agent's calls and usage never move the main gauge or the working set.
func TestSubAgentsStandApart(t *testing.T) {
	w := newTestEnv()
	w.play(t, w.at(session.BatchFinished, 50_000))
	inside := w.at(session.BatchFinished, 190_000)
	inside.CWD = "/elsewhere"
	inside.AgentID, inside.AgentType, inside.Paths = "a1", "explore", []session.PathUse{{Path: "/p/x.go", Use: session.Read}}
	out := w.play(t, session.Event{Kind: session.AgentStarted, AgentID: "a1"}, inside)
	if got := *out.Session.Usage.Tokens; got != 50_000 || len(out.Session.WorkingSet) != 0 {
		t.Errorf("main gauge %d, working set %v", got, out.Session.WorkingSet)
	}
	if out.Session.CWD != native("/p") {
		t.Errorf("a sub-agent moved the session to %s", out.Session.CWD)
	}
	if len(out.Session.Agents) != 1 || *out.Session.Agents[0].Usage.Tokens != 190_000 || out.Session.Agents[0].AgentType != "explore" {
		t.Errorf("agents = %+v", out.Session.Agents)
	}
	// At a sub-agent's end, its last response is often missing. The figure is marked as one response behind.
	out = w.play(t, session.Event{Kind: session.AgentFinished, AgentID: "a1"})
	if ended := out.Session.AgentsEnded; len(out.Session.Agents) != 0 || len(ended) != 1 || *ended[0].Usage.Tokens != 190_000 || !ended[0].Usage.Stale {
		t.Errorf("finished: %+v, still there: %+v", ended, out.Session.Agents)
	}
	// The file may then contain an earlier response that was written late. The figure is still one response behind.
	late := w.reported(193_000)
	late.At = late.At.Add(-time.Minute)
	batch, finished := session.Event{Kind: session.BatchFinished, AgentID: "a2"}, session.Event{Kind: session.AgentFinished, AgentID: "a2", Reports: []session.Report{late}}
	out = w.play(t, batch, finished)
	if ended := out.Session.AgentsEnded; len(ended) != 2 || *ended[1].Usage.Tokens != 193_000 || !ended[1].Usage.Stale {
		t.Errorf("with the response before: %+v", ended)
	}
	last := w.at(session.AgentFinished, 195_000)
	last.AgentID = "a1"
	out = w.play(t, last, session.Event{Kind: session.PromptSubmitted, Machine: true})
	if ended := out.Session.AgentsEnded; len(ended) != 2 || *ended[0].Usage.Tokens != 195_000 || ended[0].Usage.Stale {
		t.Errorf("with its last response: %+v", ended)
	}
	if out = w.play(t, session.Event{Kind: session.PromptSubmitted}); len(out.Session.AgentsEnded) != 0 {
		t.Errorf("still shown after a person's prompt: %+v", out.Session.AgentsEnded)
	}
	for i := range session.MaxAgents + 5 {
		w.play(t, session.Event{Kind: session.AgentStarted, AgentID: fmt.Sprint("n", i)})
	}
	if n := len(w.session().Agents); n != session.MaxAgents {
		t.Errorf("%d sub-agents kept", n)
	}
}
