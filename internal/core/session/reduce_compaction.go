package session

import (
	"fmt"
	"time"

	"github.com/ctxls/ctxls/internal/core/text"
)

// compacted handles a message that a compaction ended.
func (r *reduction) compacted(b Boundary) {
	at, dated := b.At, !b.At.IsZero()
	if !dated || at.After(r.now) { // from a wrong clock; no report would count before that time
		at = r.now
	}
	if b.Micro {
		if at.After(r.s.Compaction.Since()) {
			r.s.Gauge, r.s.TurnTokens, r.s.Compaction.ClearedAt = r.s.Gauge.Forget(), 0, at
			r.s.Tail = Tail{Partial: true}
		}
		return
	}
	var reported time.Time
	if r.s.Gauge.Reported() {
		reported = r.s.Gauge.At
	}
	late := lateSign
	if r.st.Rules.Silent { // an agent without a host reports each event once, and its content since then may be all that it reports
		late = 0
		if g := r.s.Gauge; !g.Reported() && g.Appended > 0 {
			reported = g.At
		}
	}
	if reported.After(r.now) {
		reported = r.now
	}
	c, worth := r.s.Compaction.Finish(b.ID, at, dated, reported, late)
	r.s.Compaction = c
	if worth == signOld {
		return
	}
	first := worth == signFirst
	before := b.PreTokens
	if before == 0 && r.s.Gauge.Reported() {
		before = r.s.Gauge.Tokens
	}
	if first || dated { // content before the boundary line is gone, too
		r.s.Tail, r.grown = Tail{Partial: true}, true
	}
	r.learnAccepted(b.PreTokens, fmt.Sprintf("a conversation of %s tokens was compacted", text.Thousands(b.PreTokens)))
	if b.Automatic {
		r.learnCompacted(b.PreTokens)
	}
	if first {
		r.s.ThresholdCrossedAt, r.s.HandoffSaid, r.s.HandoffComplete = time.Time{}, false, false
		r.s.TurnTokens, r.s.Awaiting = 0, false
		r.s.Compaction.Owed, r.s.Compaction.Spent = OwedAll, 0
		if r.cfg.Reminder.Rearm == "compaction" {
			r.s.RemindedAt = time.Time{}
		}
		if c.Frozen == nil {
			w := r.workingContext()
			r.s.Compaction.Frozen, r.s.Compaction.Omitted = w.Paths, w.Omitted
		}
	}
	if first || b.PostTokens > 0 && !r.s.Gauge.Reported() {
		rest, base := b.PostTokens, 0
		if b.Messages {
			if r.s.Compaction.Rest = rest; r.s.Compaction.Base == 0 {
				rest = 0 // too small by an unknown amount
			}
			base = r.s.Compaction.Base
		}
		if leaves := r.st.Rules.CompactionLeaves; rest == 0 && leaves > 0 && r.s.Compaction.Base > 0 && r.cfg.Compaction.PostCompactionPercent == nil {
			rest, base = leaves, r.s.Compaction.Base
		}
		r.s.Gauge = r.s.Gauge.AfterCompaction(rest, base, before, r.window().Tokens, r.cfg.Compaction.PostCompactionPercent, at)
	}
	if first {
		r.sample(at, r.s.Gauge.Tokens, SampleCompaction)
	}
	r.carryOver(b.Summary, first)
}

// carryOver decides which files are listed again for the agent: those that the summary lost, or all of them if the host does not show
// the summary.
func (r *reduction) carryOver(summary string, first bool) {
	c := &r.s.Compaction
	switch {
	case c.Frozen == nil:
	case c.Told: // with the announcement
		c.Frozen, c.Told = nil, false
	case summary != "":
		c.Lost, c.Whole, c.Frozen = lostPaths(c.Frozen, summary), false, nil
	case first && !r.st.Rules.SummaryVisible:
		c.Lost, c.Whole, c.Frozen = c.Frozen, true, nil
	}
}

func (r *reduction) openCompaction() {
	w := r.workingContext()
	lines := w.Lines()
	tells := lines != nil && r.accepts(CompactionContext) && r.tellsSummarizer()
	r.s.Compaction = r.s.Compaction.Open(w.Paths, tells && r.ev.Echoed, r.now)
	r.s.Compaction.Omitted = w.Omitted
	if tells {
		r.effects = append(r.effects, Effect{Kind: CompactionContext, Lines: lines, Working: w})
	}
}

// tellsSummarizer reports whether the model that writes the summary gets the files in use.
func (r *reduction) tellsSummarizer() bool {
	if r.ev.Asked {
		return true
	}
	if chosen := r.cfg.Compaction.TellSummarizer; chosen != nil {
		return *chosen
	}
	return !r.st.Rules.SummarizesAhead
}

// workingContext returns the working set in the form for the host.
func (r *reduction) workingContext() WorkingContext {
	return NewWorkingContext(r.inUse(), r.s.CWD, r.cfg.Compaction)
}

func (r *reduction) cancelOpening() {
	if !r.s.Compaction.OpenedAt.IsZero() {
		r.s.Compaction = r.s.Compaction.Cancel()
	}
}
