package session

import (
	"slices"
	"strconv"
	"time"

	"github.com/ctxls/ctxls/internal/core/fleet"
)

// maxGrowth is how many turns the forecast looks back.
const maxGrowth = 8

// beginTurn takes over the prompt of the event.
func (r *reduction) beginTurn() {
	r.countTurn()
	r.s.Awaiting, r.s.AskedAt = true, r.now
	if r.ev.Machine {
		return
	}
	r.s.PromptAt, r.s.PromptLength, r.s.PromptText, r.s.PromptID = r.now, len([]rune(r.ev.Prompt)), "", r.ev.PromptID
	if r.cfg.Store.KeepPrompts {
		r.s.PromptText = r.ev.Prompt
	}
	for _, use := range PathsInPrompt(r.ev.Prompt) {
		r.use(use.at(r.now))
	}
}

// recordedTurn takes over a turn that the host's record tells of.
func (r *reduction) recordedTurn(t Turn, at time.Time) {
	r.countTurn()
	if !t.Machine {
		r.s.PromptAt, r.s.PromptLength = at, t.Length
	}
}

// countTurn ends one turn and begins the next: what the turn added to the window is its growth.
func (r *reduction) countTurn() {
	if g, silent := r.s.Gauge, r.st.Rules.Silent; g.Reported() || silent && g.Known {
		tokens := g.Tokens
		if silent {
			tokens = g.Projected()
		}
		if r.s.TurnTokens > 0 && tokens > r.s.TurnTokens {
			r.s.Growth = append(slices.Clone(r.s.Growth), tokens-r.s.TurnTokens)
			r.s.Growth = r.s.Growth[max(0, len(r.s.Growth)-maxGrowth):]
		}
		r.s.TurnTokens = tokens
	}
	r.s.Turns++
	r.s.TurnPeak = 0
}

// turnTask names the task that the session's current turn is; "" where it is none of ours to record.
func TurnTask(s Session) string {
	if s.Turns == 0 || s.Prepared {
		return ""
	}
	return TurnTaskPrefix(s.Key()) + strconv.Itoa(s.Turns)
}

// TurnTaskPrefix begins the ids of the tasks that the turns of a session are. When a session is forgotten its tasks lose
// their names, and so whose they were.
func TurnTaskPrefix(key Key) string { return string(key.Host) + "/" + key.SessionID + "#" }

// recordTask records the turn for the fleet figures, with the most that it held: a compaction in its middle does not make it
// a small one. At a turn's end the transcript may lag, so the next prompt records it again: the larger figure is kept.
func (r *reduction) recordTask() {
	id := TurnTask(r.st.Session)
	if id == "" || r.s.TurnPeak == 0 {
		return
	}
	r.ch.Task = &fleet.Task{ID: id, Tokens: r.s.TurnPeak, At: r.now}
	r.ch.WindowTasks = r.cfg.Metrics.WindowTasks
	sums := r.st.Tasks.Record(r.s.TurnPeak, r.cfg.Metrics.ThresholdTokens)
	if alert, due := r.st.Alert.Due(sums, r.cfg.Metrics, r.now); due {
		r.ch.Alert = &fleet.AlertGate{At: r.now, Rate: alert.Rate}
	}
}
