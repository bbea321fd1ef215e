package session

import (
	"cmp"
	"slices"
	"time"
)

// attribute finds the agent of an event if the host does not name it. A tool runs for the agent that the model answered last. A tool
// that runs sub-agents belongs to the main chain, and its end is theirs. A turn begins and ends without sub-agents.
func (r *reduction) attribute() {
	switch r.ev.Kind {
	case UsageReported:
		if r.ev.AgentID != "" || len(r.ev.Reports) > 0 {
			r.s.Speaker = r.ev.AgentID
		}
	case ToolStarting, ToolFinished:
		r.ev.AgentID = cmp.Or(r.ev.AgentID, r.s.Speaker)
	case AgentFinished:
		r.endAgents(func(a Agent) bool { return a.AgentID == r.s.Speaker })
		r.s.Speaker = ""
	case SessionStarted, PromptSubmitted, TurnFinished, TurnFailed, SessionEnded:
		r.endAgents(func(Agent) bool { return true })
		r.s.Speaker = ""
	}
}

// endAgents ends the running sub-agents that the event is about.
func (r *reduction) endAgents(meant func(Agent) bool) {
	r.s.Agents = slices.Clone(r.s.Agents)
	for i := range r.s.Agents {
		if a := &r.s.Agents[i]; a.EndedAt.IsZero() && meant(*a) {
			a.EndedAt = r.now
		}
	}
}

// agent handles an event from inside a sub-agent. It changes only the gauge of that agent. It does not change the occupancy or the
// working set of the main chain, and adds no text.
func (r *reduction) agent() {
	if r.ev.Kind == Seen {
		return
	}
	r.s.Agents = slices.Clone(r.s.Agents)
	if r.ev.Kind == SessionDeleted {
		r.s.Agents = slices.DeleteFunc(r.s.Agents, func(a Agent) bool { return a.AgentID == r.ev.AgentID })
		return
	}
	i := slices.IndexFunc(r.s.Agents, func(a Agent) bool { return a.AgentID == r.ev.AgentID })
	if i < 0 {
		if len(r.s.Agents) >= MaxAgents {
			oldest := slices.MinFunc(r.s.Agents, func(a, b Agent) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
			r.s.Agents = slices.DeleteFunc(r.s.Agents, func(a Agent) bool { return a.AgentID == oldest.AgentID })
		}
		r.s.Agents = append(r.s.Agents, Agent{AgentID: r.ev.AgentID})
		i = len(r.s.Agents) - 1
	}
	a := &r.s.Agents[i]
	if r.ev.AgentType != "" {
		a.AgentType = r.ev.AgentType
	}
	if r.ev.Model != "" {
		a.Model = r.ev.Model
	}
	observe := func(rep Report) {
		gauge, counts := a.Gauge.Observe(rep, rep.Occupancy(r.cfg.Usage, r.st.Rules), time.Time{}, r.now)
		if counts {
			a.Gauge, a.Awaiting = gauge, a.Awaiting && rep.before(a.AskedAt)
			if rep.Model != "" {
				a.Model = rep.Model
			}
		}
	}
	if reading := r.ev.Reading; reading != nil && reading.Cursor != (Cursor{}) {
		for _, e := range reading.Entries {
			a.Limits = a.Limits.With(e.Limits)
			if e.Report != nil {
				observe(*e.Report)
			}
		}
		a.Cursor = reading.Cursor
	}
	for _, rep := range r.ev.Reports {
		observe(rep.dated(r.now))
	}
	a.UpdatedAt, a.EndedAt = r.now, time.Time{}
	switch r.ev.Kind {
	case ToolStarting:
		a.Gauge.Behind = a.Gauge.Known && a.Awaiting
	case BatchFinished:
		a.Gauge.Behind = a.Gauge.Known && a.Awaiting
		a.Awaiting, a.AskedAt = true, r.now
	case AgentFinished:
		a.Gauge.Behind = a.Gauge.Known && a.Awaiting
		a.EndedAt = r.now
	}
}
