package session

import (
	"slices"
	"strconv"
	"time"

	"github.com/ctxls/ctxls/internal/core/fleet"
)

// maxGrowth is the number of turns that the forecast uses.
const maxGrowth = 8

// beginTurn handles the prompt of the event.
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

// recordedTurn handles a turn from the host's record.
func (r *reduction) recordedTurn(t Turn, at time.Time) {
	r.countTurn()
	if !t.Machine {
		r.s.PromptAt, r.s.PromptLength = at, t.Length
	}
}

// countTurn ends one turn and begins the next. The tokens that the turn added to the window are its growth.
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

// turnTask returns the task of the session's current turn; "" if ctxls does not record it.
func TurnTask(s Session) string {
	if s.Turns == 0 || s.Prepared {
		return ""
	}
	return TurnTaskPrefix(s.Key()) + strconv.Itoa(s.Turns)
}

// TurnTaskPrefix is the prefix of the IDs of tasks that are turns of a session. Forgetting a session removes these IDs, and with them
// the link to the session.
func TurnTaskPrefix(key Key) string { return string(key.Host) + "/" + key.SessionID + "#" }

// recordTask records the turn for the fleet figures, with its largest occupancy: a compaction in the middle does not make it a small
// turn. At the end of a turn the transcript may lag, so the next prompt records it again, and the larger figure stays.
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
