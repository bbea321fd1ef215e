package session

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Reduce decides what an event changes and which effects it has. It is pure: the same arguments always give the same result, and it
// modifies none of them.
func Reduce(st State, ev Event, cfg settings.Config, now time.Time) (Changes, []Effect) {
	if ev.Kind == SessionDeleted && ev.AgentID == "" {
		return Changes{Delete: true}, nil
	}
	if ev.Kind == SessionDeleted && !st.Known {
		return Changes{}, nil
	}
	if ev.Kind == SessionEnded && !st.Known && ev.tellsNothing() { // for example, a command of the host that never had a conversation
		return Changes{}, nil
	}
	r := &reduction{st: st, ev: ev, cfg: cfg, now: now, s: st.Session}
	r.identify()
	r.redate()
	if st.Rules.ToolsUnnamed {
		r.attribute()
	}
	if r.ev.AgentID != "" {
		r.agent()
	} else {
		r.mainChain()
	}
	r.s.UpdatedAt = now
	r.ch.Session, r.ch.MaxSessions = &r.s, cfg.Store.MaxSessions
	return r.ch, r.effects
}

// reduction is one run of Reduce: the new state of the session, and the decisions so far.
type reduction struct {
	st  State
	ev  Event
	cfg settings.Config
	now time.Time

	s       Session
	ch      Changes
	effects []Effect

	results []CallResult // that were read

	resolved resolvedWindow

	grown bool // the tail changed
	gap   bool // a gap between this reading and the one before
}

// identify stores what the event says about the session itself.
func (r *reduction) identify() {
	if !r.st.Known {
		r.s = Session{Host: r.ev.Host, SessionID: r.ev.SessionID, StartedAt: r.now}
	}
	set := func(field *string, value string) {
		if value != "" {
			*field = value
		}
	}
	if !r.st.Known || r.ev.AgentID == "" { // a sub-agent may work elsewhere, and with another model
		r.s.CWD = r.s.Project(r.ev)
		set(&r.s.Title, r.ev.Title)
		set(&r.s.Provider, r.ev.Provider)
		set(&r.s.Transcript, r.ev.Transcript)
	}
	if r.ev.HostPID != 0 {
		r.s.HostPID = r.ev.HostPID
	}
	if r.ev.AgentID == "" {
		r.adoptModel(r.ev.Model, r.ev.Kind == UsageReported)
	}
	if r.s.Provider == "" {
		r.s.Provider = r.st.Rules.Provider
	}
	switch r.ev.Kind {
	case SessionEnded:
		r.s.EndedAt = r.now
	case SessionStarted, PromptSubmitted, ToolStarting, ToolFinished, BatchFinished, CompactionOpened, CompactionDone:
		r.s.EndedAt = time.Time{} // other kinds may come late and must not reopen the session
	}
}

// adoptModel stores a model ID. Transcripts leave out the "[1m]" that a status line has, so only an authoritative spelling removes it. A
// different model has different limits.
func (r *reduction) adoptModel(modelID string, authoritative bool) {
	if modelID == "" {
		return
	}
	before, after := model.Parse(r.s.Model), model.Parse(modelID)
	same := before.Plain == after.Plain
	if r.s.Model != "" && !same {
		r.s.Limits.WindowTokens, r.s.Limits.InputTokens, r.s.Limits.OutputTokens = 0, 0, 0
	}
	if same && before.Million && !after.Million && !authoritative {
		return
	}
	if !same || before.Million != after.Million {
		r.s.Proof = LearnedWindow{}
	}
	r.s.Spelled = authoritative || after.Million || same && r.s.Spelled
	r.s.Model = modelID
	if after.Provider != "" {
		r.s.Provider = after.Provider
	}
}

// mainChain handles an event of the main conversation: first the new part of the transcript, then the event itself.
func (r *reduction) mainChain() {
	r.s.Compaction = r.s.Compaction.Expire(r.now)
	if r.ev.Kind == HistorySeen && r.s.HistorySeen {
		return // counted when it was first shown
	}
	if r.ev.Kind == PromptSubmitted && r.ev.PromptID != "" && r.ev.PromptID == r.s.PromptID {
		return // told before
	}
	r.stateLimits()
	r.ingest()
	for _, rep := range r.ev.Reports {
		r.report(rep.dated(r.now))
	}
	r.append(r.ev.Content)
	if r.ev.Limit != nil {
		r.learnStated(*r.ev.Limit)
	}
	for _, use := range r.ev.Paths {
		at := use.At // of one in a history
		if at.IsZero() {
			at = r.now
		}
		r.use(use.at(at))
	}
	// The result of a call may have been read above, before the paths of this event were known. So it is resolved again.
	for _, result := range slices.Concat(r.results, r.ev.Results) {
		r.resolveCall(result)
	}
	switch r.ev.Kind {
	case PromptSubmitted, ToolStarting, ToolFinished, BatchFinished, TurnFinished, TurnFailed:
		r.s.Marked = false
	}
	switch r.ev.Kind {
	case PromptSubmitted:
		r.recordTask()
		r.cancelOpening()
		r.resolveAllCalls()
		r.beginTurn()
	case ToolStarting:
		r.s.Gauge.Behind = r.s.Gauge.Known && r.s.Awaiting
	case BatchFinished: // usually the transcript has the response that called the tools by now
		r.s.Gauge.Behind = r.s.Gauge.Known && r.s.Awaiting
		r.s.Awaiting, r.s.AskedAt = true, r.now
	case TurnFinished, TurnFailed:
		r.s.Gauge.Behind = r.s.Gauge.Known && r.s.Awaiting
		r.cancelOpening()
		r.recordTask()
	case SessionEnded:
		r.recordTask()
		r.resolveAllCalls()
	case CompactionOpened:
		r.openCompaction()
	case CompactionDone:
		b := Boundary{}
		if r.ev.CompactedBy != nil {
			b = *r.ev.CompactedBy
		}
		r.compacted(b)
	case HandoffCompleted:
		r.s.HandoffComplete = true
	case HistorySeen:
		r.s.HistorySeen = true
	}
	r.project()
	r.notify()
}

// clockStep is how far in the future a stored time may lie before a wrong clock is the reason. Concurrent hooks read the clock a moment
// before they read the state, at most their timeout.
const clockStep = time.Minute

// redate moves times that a fast clock stored in the future to the present. Otherwise nothing would be newer until then.
func (r *reduction) redate() {
	latest := r.now.Add(-clockStep)
	ahead := func(at time.Time) bool { return at.After(r.now.Add(clockStep)) }
	c := &r.s.Compaction
	if ahead(c.DoneAt) {
		c.BeganAt, c.DoneAt = latest, latest
	}
	if ahead(c.ClearedAt) {
		c.ClearedAt = latest
	}
	if ahead(c.OpenedAt) {
		c.OpenedAt = latest
	}
	if g := &r.s.Gauge; ahead(g.At) {
		g.At = latest
	}
	for i, a := range r.s.Agents {
		if ahead(a.Gauge.At) {
			r.s.Agents = slices.Clone(r.s.Agents)
			r.s.Agents[i].Gauge.At = latest
		}
	}
}

// stateLimits stores the limits and the user's settings in the event. The host's own statement about the window replaces what was
// learned.
func (r *reduction) stateLimits() {
	r.s.Limits = r.s.Limits.With(r.ev.Limits)
	if s := r.ev.Settings; s != nil {
		if !reflect.DeepEqual(*s, r.s.Settings) {
			r.s.Proof.CompactedTokens = 0 // it was seen under others
		}
		r.s.Settings = *s
		r.resolved = resolvedWindow{}
	}
	if stated := r.ev.Limits.WindowTokens; stated > 0 {
		r.s.Proof.AcceptedTokens, r.s.Proof.StatedTokens = 0, 0
		if l := r.learned(); l.AcceptedTokens > stated && r.s.plainlyNamed(r.st.Rules) {
			l.AcceptedTokens, l.StatedTokens = 0, 0
			r.ch.Learned = &l
		}
	}
}

// ingest handles the new part of the transcript. Hooks run in parallel, so another hook may have read some of it. Bytes before the
// stored cursor were counted already.
func (r *reduction) ingest() {
	reading := r.ev.Reading
	if reading == nil || reading.Cursor == (Cursor{}) {
		return
	}
	known := int64(0)
	if r.s.Cursor.SameFile(reading.Cursor) && !reading.Restarted {
		known = r.s.Cursor.Offset
	}
	if reading.Restarted || reading.From > known {
		r.s.Tail, r.gap = Tail{Partial: true}, true
	}
	var newest time.Time // of the reports of this file
	if known > 0 && r.s.Gauge.Provenance == ProvenanceTranscript {
		newest = r.s.Gauge.At
	}
	for _, e := range reading.Entries {
		if e.Offset < known {
			continue
		}
		if e.Title != "" {
			r.s.Title = e.Title
		}
		if e.Version != "" {
			r.s.HostVersion = e.Version
		}
		if e.Report != nil && e.Limits != (model.Limits{}) {
			r.adoptModel(e.Report.Model, false) // these are the limits of its model; adopting it later would remove them
		}
		r.s.Limits = r.s.Limits.With(e.Limits)
		for _, use := range e.Paths {
			at := e.At
			if at.IsZero() {
				at = r.now
			}
			r.use(use.at(at))
		}
		for _, result := range e.Results {
			r.resolveCall(result)
		}
		r.results = append(r.results, e.Results...)
		if e.Turn != nil {
			r.recordedTurn(*e.Turn, e.At)
		}
		switch {
		case e.Report != nil:
			rep := *e.Report
			if !rep.At.IsZero() && rep.At.Before(newest) {
				rep.At = newest // the clock was set back: within one file, later lines are newer
			}
			newest = rep.At
			r.report(rep)
		case e.Boundary != nil && e.Earlier:
			if !r.s.HistorySeen {
				r.s.Compaction = r.s.Compaction.CountEarlier(e.Boundary.ID)
			}
		case e.Boundary != nil:
			r.compacted(*e.Boundary)
		case e.Limit != nil:
			r.learnStated(*e.Limit)
		}
		if !r.s.Compaction.left(e) {
			r.append(e.Content)
		}
	}
	r.s.HistorySeen = true
	if reading.Cursor.Offset >= known {
		r.s.Cursor = reading.Cursor
	}
}

// report handles a usage report of the main chain.
func (r *reduction) report(rep Report) {
	if rep.Tokens == 0 && r.s.Gauge.Provenance == ProvenanceHost {
		r.s.Gauge = r.s.Gauge.Forget() // the status line, so far the only source, resets its figure
		return
	}
	tokens := rep.Occupancy(r.cfg.Usage, r.st.Rules)
	if !r.plausible(tokens) || r.late(rep, tokens) {
		return
	}
	if before := r.s.Gauge; before.Reported() && rep.At.After(before.At) && r.st.Rules.Fall.Compacted(before.Tokens, tokens) {
		r.compacted(Boundary{At: rep.At.Add(-1), PreTokens: before.Tokens, PostTokens: tokens}) // just before the report
	}
	repeat := r.s.Tail.Repeats(rep)
	if repeat && r.s.Gauge.Provenance == ProvenanceHost {
		return // a status line is newer
	}
	gauge, counts := r.s.Gauge.Observe(rep, tokens, r.s.Compaction.Since(), r.now)
	if !counts {
		return
	}
	r.s.Gauge, r.s.Awaiting = gauge, r.s.Awaiting && rep.before(r.s.AskedAt)
	r.s.TurnPeak = max(r.s.TurnPeak, tokens)
	if !rep.At.IsZero() {
		r.follow(rep)
	}
	if model.Plain(rep.Requested) == model.Plain(rep.Model) {
		r.adoptModel(rep.Requested, true)
	} else {
		r.adoptModel(rep.Model, false)
	}
	if !rep.At.IsZero() && rep.At.After(r.s.Compaction.OpenedAt) {
		r.cancelOpening()
	}
	accepted := rep.Occupancy(settings.UsageConfig{CountCacheWrites: true}, r.st.Rules) // with the answer where the host counts it: it was in the window
	r.learnAccepted(accepted, fmt.Sprintf("a request of %s tokens was accepted", text.Thousands(accepted)))
	w := r.window()
	if r.cfg.Handoff.Enabled && r.s.ThresholdCrossedAt.IsZero() && tokens*100 >= r.cfg.Handoff.Percent*w.Tokens {
		r.s.ThresholdCrossedAt = r.now
	}
	if !repeat {
		r.sample(gauge.At, tokens, SampleUsage)
	}
}

// late reports whether a status line may describe a response from before the last compaction. A status line has no time, so the transcript
// decides. But a figure under twice the estimate is too small for that: the host may write its transcript after its last status line, and an
// idle session would show the estimate until the next prompt.
func (r *reduction) late(rep Report, tokens int) bool {
	transcript := r.s.Cursor != (Cursor{})
	if !rep.At.IsZero() || !transcript || r.s.Gauge.Reported() || r.s.Compaction.Since().IsZero() {
		return false
	}
	return !r.s.Gauge.Known || tokens >= 2*r.s.Gauge.Projected()
}

func (r *reduction) sample(at time.Time, tokens int, kind SampleKind) {
	r.ch.Samples = append(r.ch.Samples, Sample{At: at, Tokens: tokens, WindowTokens: r.window().Tokens, Kind: kind})
}
