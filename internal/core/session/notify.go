package session

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/settings"
)

// notify decides which texts the agent gets at this point of the conversation. It uses no estimate and no assumed window, and adds no
// text that the host would not pass on.
func (r *reduction) notify() {
	switch {
	case r.ev.Kind == SessionStarted && !r.st.Rules.GuideLate:
		r.sayGuidance()
	case r.ev.Kind == CompactionDone:
		r.sayMarkOutdated()
		r.sayCarried()
		r.sayLost()
	case r.ev.Kind == PromptSubmitted && !r.ev.Machine:
		r.sayMark()
		r.sayCarried()
		r.sayLost()
		r.sayHandoff()
	case r.ev.Kind == BatchFinished, r.ev.Kind == ToolFinished && !r.st.Rules.BatchEvent:
		r.sayCarried()
		r.sayLost()
		r.sayReminder()
		r.sayHandoff()
	}
}

func (r *reduction) accepts(kind EffectKind) bool {
	for _, k := range r.ev.Accepts {
		if k == kind {
			return true
		}
	}
	return false
}

// say adds a text for the model and reports whether the model will get it.
func (r *reduction) say(text string) bool {
	kind := Inject
	if !r.accepts(kind) {
		kind = AppendToolOutput
	}
	if text == "" || !r.accepts(kind) {
		return false
	}
	r.effects = append(r.effects, Effect{Kind: kind, Text: clampText(text)})
	return true
}

// knows reports whether there is a reported figure, for a window that is more than an assumption.
func (r *reduction) knows(w model.Window, limit *int) bool {
	return r.s.Gauge.Reported() && (w.Provenance != model.WindowFromDefault || limit != nil && *limit > 0)
}

func (r *reduction) sayGuidance() {
	t := r.cfg.Tracking
	if t.MaxTokens.Off() || !t.Guidance || !r.ev.Guarded || !r.s.GuidedAt.IsZero() {
		return
	}
	ownCount := r.st.Rules.OwnCount
	if r.s.Settings.TrueCount {
		ownCount = ""
	}
	if r.say(guidance(r.cfg.Levels, ownCount)) {
		r.s.GuidedAt = r.now
	}
}

func (r *reduction) sayMark() {
	t, w := r.cfg.Tracking, r.window()
	if !t.MaxTokens.Off() && r.ev.Guarded && r.knows(w, &t.MaxTokens.Tokens) {
		if r.st.Rules.GuideLate {
			r.sayGuidance()
		}
		r.s.Marked = r.say(trackingMark(r.s.Gauge.Tokens, trackingLimit(w, r.cfg)))
	}
}

// sayMarkOutdated corrects the mark of a prompt that the host sends again after the compaction. The mark has the occupancy from before.
func (r *reduction) sayMarkOutdated() {
	if r.s.Marked && r.st.Rules.CompactsAfterPrompt && r.say(markOutdated) {
		r.s.Marked = false
	}
}

func (r *reduction) sayReminder() {
	c, w := r.cfg.Reminder, r.window()
	if !c.Enabled || !r.s.RemindedAt.IsZero() || !r.knows(w, c.ActualLimitTokens) {
		return
	}
	if c.AnthropicOnly && r.s.Provider != "anthropic" && r.st.Rules.Provider != "anthropic" {
		return
	}
	actual := w.Tokens
	if c.ActualLimitTokens != nil && *c.ActualLimitTokens > 0 {
		actual = *c.ActualLimitTokens
	}
	if used := r.s.Gauge.Tokens; used*100 >= c.ThresholdPercent*actual && r.say(reminder(c.Message, used, DisplayLimit(w, r.cfg), actual, r.s.Model)) {
		r.s.RemindedAt = r.now
	}
}

// sayHandoff adds the handoff note once, when occupancy crosses the threshold. Only a compaction resets ThresholdCrossedAt.
func (r *reduction) sayHandoff() {
	if !r.cfg.Handoff.Enabled || r.s.ThresholdCrossedAt.IsZero() || r.s.HandoffComplete || r.s.HandoffSaid {
		return
	}
	w := r.window()
	if !r.knows(w, nil) {
		return
	}
	r.s.HandoffSaid = r.say(handoffNote(r.s.Gauge.Tokens, w.Tokens, r.cfg.Handoff.Percent))
}

// sayLost lists the files that a compaction lost, or the whole working context if the host shows no summary.
func (r *reduction) sayLost() {
	lost := r.s.Compaction.Lost
	if len(lost) == 0 {
		return
	}
	if r.ev.WithoutPaths {
		r.s.Compaction.Lost = nil
		return
	}
	text := lostNote(lost)
	if r.s.Compaction.Whole {
		text = strings.Join(WorkingContext{Paths: lost, Omitted: r.s.Compaction.Omitted}.Lines(), "\n")
	}
	if r.say(text) {
		r.s.Compaction.Lost = nil
	}
}

// sayCarried adds the parts of the record from before the compaction.
func (r *reduction) sayCarried() {
	c, owed := r.ev.Carried, r.s.Compaction.Owed
	if c == nil || owed == OwedNothing || c.For != owed {
		return
	}
	if text := carriedNote(*c); text != "" {
		if !r.say(text) {
			return
		}
		r.effects[len(r.effects)-1].Private = true
	}
	r.s.Compaction.Owed, r.s.Compaction.Spent = OwedNothing, r.s.Compaction.Spent+c.WordTokens
	if owed == OwedAll && !c.SummarySeen && r.st.Rules.SummaryVisible {
		r.s.Compaction.Owed = OwedEnded
	}
}

// DisplayLimit returns the limit for displayed figures, in tokens: the user's choice first. Else it is the window in force while marks
// are on, so that one session gets only one share; else a million.
func DisplayLimit(w model.Window, cfg settings.Config) int {
	chosen := cfg.Reminder.DisplayLimitTokens
	switch {
	case chosen != nil && *chosen > 0:
		return *chosen
	case chosen == nil && cfg.Tracking.MaxTokens.Off():
		return model.Million
	}
	return trackingLimit(w, cfg)
}

// trackingLimit returns the tokens that are 100 % in the marks.
func trackingLimit(w model.Window, cfg settings.Config) int {
	if n := cfg.Tracking.MaxTokens.Tokens; n > 0 {
		return n
	}
	return w.Tokens
}
