package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/core/token"
)

// Service is what every command and server calls. It does the work before the transaction, runs Reduce in the transaction, and returns
// the outcome.
type Service struct {
	Store Store
	// Seen answers questions about sessions. It is Store, or a layer on Store that knows more sessions; nil is Store.
	Seen     Store
	Adapters map[session.Host]Adapter
	// Config returns the settings in force for a working directory; "" is none in particular.
	Config func(cwd string) settings.Config
	Now    func() time.Time
	// Counter counts the growth of a conversation in Encoding. Without one, the growth is estimated from its length.
	Counter token.Counter
	// DirExists reports whether a directory exists; it decides tracking.guardDir.
	DirExists func(path string) bool
	// ProcessLives reports whether a process with that ID exists; nil is unknown. A session is idle once its host's process has ended.
	ProcessLives func(pid int) bool
	// RealPath returns a directory's path without symbolic links; nil is unknown. Editors name a folder as it was opened, most hosts by
	// its real path.
	RealPath func(path string) (string, error)
	Meter    *conversation.Meter // counts conversations; nil if none are measured
	Log      *slog.Logger
	// Historian reads the record of a host back past a compaction. A nil function or result means that there is no record.
	Historian func(session.Host) Historian
	// Tally returns the sums over the last compactions that a ledger was made of. It is asked after a compaction only; nil is none.
	Tally func() survival.Totals
	// Asks reports whether agents of a host can call the tools of ctxls; nil is no.
	Asks func(session.Host) bool
	// Index searches records; nil if nothing is searched.
	Index Index
	// Forgotten is called with a session that was deleted, to delete data outside the state, too; it may be nil.
	Forgotten func(session.Key)
}

// seen returns the source for questions about sessions.
func (s *Service) seen() Store {
	if s.Seen != nil {
		return s.Seen
	}
	return s.Store
}

// Count counts the content of an event. Handle does this itself.
func (s *Service) Count(ev *session.Event) { s.count(ev) }

// Outcome is the result of an event.
type Outcome struct {
	Key     session.Key
	Deleted bool        // the event deleted an existing session
	Session SessionView // the new state; the zero value if deleted
	Effects []session.Effect
	Lost    []string     // paths that the last compaction lost and that the agent was not told yet
	Alert   *fleet.Alert // the fleet alert that the event raised
}

// Handle handles one event. If it returns nil, the changes of the event are stored.
func (s *Service) Handle(ctx context.Context, ev session.Event) (Outcome, error) {
	out := Outcome{Key: ev.Key()}
	for _, p := range []*string{&ev.CWD, &ev.Transcript, &ev.AgentTranscript} {
		*p = pathname.Native(*p, pathname.OnWindows) // Git Bash writes /c/x
	}
	if err := session.CheckID("sessionId", ev.SessionID); err != nil {
		return out, err
	}
	if err := s.CheckHost(ev.Host); err != nil {
		return out, err
	}
	rules := s.rules(ev.Host)
	stored, err := s.Store.Load(ctx, Query{Key: ev.Key()}) // for the cursor and the directory
	if err == nil && rules.ChildSessions && !stored.Known {
		if ev, err = s.topOf(ctx, ev); err != nil {
			return out, err
		}
		out.Key = ev.Key()
		stored, err = s.Store.Load(ctx, Query{Key: ev.Key()})
	}
	if err != nil {
		return out, err
	}
	cwd := stored.Session.Project(ev)
	cfg := s.Config(cwd)
	s.read(ctx, &ev, stored.Session)
	s.count(&ev)
	s.carry(ctx, &ev, stored.Session, rules, cfg)
	guard := cfg.Tracking.GuardDir
	ev.Guarded = guard == "" || cwd != "" && s.DirExists(filepath.Join(cwd, guard))
	now := s.Now()
	if !ev.At.IsZero() && ev.At.Before(now) {
		now = ev.At // it came late
	}
	var before session.State
	var changes session.Changes
	err = s.Store.Update(ctx, query(ev, cfg, rules), func(st session.State) session.Changes {
		st.Rules = rules
		before = st
		changes, out.Effects = session.Reduce(st, ev, cfg, now)
		return changes
	})
	if err != nil {
		return out, err
	}
	if changes.Delete && s.Forgotten != nil {
		s.Forgotten(ev.Key())
	}
	s.describe(&out, before, changes, cfg, now)
	s.logOutcome(ctx, ev, out)
	return out, nil
}

// describe completes the outcome after the transaction, so that other processes do not wait for it.
func (s *Service) describe(out *Outcome, before session.State, changes session.Changes, cfg settings.Config, now time.Time) {
	out.Deleted = changes.Delete && before.Known
	if changes.Session != nil {
		learned := before.Learned
		if changes.Learned != nil {
			learned = *changes.Learned
		}
		after := session.Snapshot{Session: *changes.Session, WorkingSet: append(changes.Paths, before.WorkingSet...)}
		out.Session, out.Lost = View(after, learned, cfg, before.Rules, now), changes.Session.Compaction.Lost
	}
	if changes.Alert != nil {
		tasks := before.Tasks.Record(changes.Task.Tokens, cfg.Metrics.ThresholdTokens).Tasks
		out.Alert = &fleet.Alert{Rate: changes.Alert.Rate, Threshold: cfg.Metrics.AlertRate, Tasks: tasks}
	}
}

// Hook handles one payload of a host and returns the output for the host, verbatim.
func (s *Service) Hook(ctx context.Context, host session.Host, name string, payload []byte) (Outcome, []byte, error) {
	ev, err := s.Decode(host, name, payload)
	if err != nil {
		return Outcome{}, nil, err
	}
	return s.Answer(ctx, ev)
}

// Decode is the first half of Hook: it converts a payload and changes nothing.
func (s *Service) Decode(host session.Host, name string, payload []byte) (session.Event, error) {
	if err := s.CheckHost(host); err != nil {
		return session.Event{}, err
	}
	return s.Adapters[host].Decode(name, payload)
}

// Answer is the second half of Hook: it handles the event of a payload and returns the output for the host.
func (s *Service) Answer(ctx context.Context, ev session.Event) (Outcome, []byte, error) {
	out, err := s.Handle(ctx, ev)
	if err != nil {
		return out, nil, err
	}
	output, err := s.Adapters[ev.Host].Encode(ev, out.Effects)
	return out, output, err
}

// CheckHost returns an error with coded.Invalid for a host without an adapter.
func (s *Service) CheckHost(host session.Host) error {
	return session.CheckHost(host, slices.Sorted(maps.Keys(s.Adapters)))
}

// rules returns the rules of a host.
func (s *Service) rules(host session.Host) session.Rules {
	if adapter, ok := s.Adapters[host]; ok {
		return adapter.Rules()
	}
	return session.Rules{}
}

// read sets the part of the event's transcript that was appended since the stored cursor.
func (s *Service) read(ctx context.Context, ev *session.Event, stored session.Session) {
	path := ev.Transcript
	if ev.AgentID != "" {
		path = ev.AgentTranscript
	}
	adapter, ok := s.Adapters[ev.Host]
	if !ok || path == "" || ev.Kind == session.SessionDeleted {
		return
	}
	reading, err := adapter.Read(ctx, path, stored.CursorOf(ev.AgentID))
	if err != nil {
		level := slog.LevelWarn
		if errors.Is(err, fs.ErrNotExist) { // as at a session's start
			level = slog.LevelInfo
		}
		s.Log.Log(ctx, level, "transcript not read", "host", ev.Host, "session", ev.SessionID, "event", ev.Name, "error", err)
		return
	}
	ev.Reading = &reading
}

// count counts the content of an event before the transaction. It drops the content of a sub-agent, whose gauge only shows reports.
func (s *Service) count(ev *session.Event) {
	tools := s.rules(ev.Host).Tools
	budget := session.MaxCountedBytes
	if ev.AgentID != "" {
		budget, ev.Content = 0, nil
	}
	ev.Content = slices.Clone(ev.Content)
	budget = session.CountPieces(ev.Content, tools, s.Counter, budget)
	if ev.Reading == nil {
		return
	}
	for i := len(ev.Reading.Entries) - 1; i >= 0; i-- {
		e := &ev.Reading.Entries[i]
		if ev.AgentID != "" {
			e.Content = nil
		}
		budget = session.CountPieces(e.Content, tools, s.Counter, budget)
	}
}

// topOf returns the event as one of the top session if its session is known to belong to a sub-agent.
func (s *Service) topOf(ctx context.Context, ev session.Event) (session.Event, error) {
	sessions, err := s.Store.Sessions(ctx, SessionFilter{Host: ev.Host, IncludeEnded: true})
	if err != nil {
		return ev, err
	}
	for _, snap := range sessions {
		if !slices.ContainsFunc(snap.Session.Agents, func(a session.Agent) bool { return a.AgentID == ev.SessionID }) {
			continue
		}
		if ev.AgentID == "" { // otherwise it belongs to a sub-agent of a sub-agent
			ev.AgentID = ev.SessionID
			if ev.Kind == session.TurnFinished {
				ev.Kind = session.AgentFinished
			}
		}
		ev.SessionID = snap.Session.SessionID
		break
	}
	return ev, nil
}

// query asks only for what the decision needs, since every hook pays for it.
func query(ev session.Event, cfg settings.Config, rules session.Rules) Query {
	q := Query{Key: ev.Key(), Provider: ev.Provider, Model: ev.Model}
	if reading := ev.Reading; reading != nil {
		for _, e := range reading.Entries {
			if e.Report != nil && ev.Model == "" {
				q.Model = e.Report.Model
			}
			q.WorkingSet = q.WorkingSet || e.Boundary != nil
			if e.Report != nil || e.Content != nil {
				q.Calibration = session.Encoding
			}
		}
	}
	if ev.Content != nil || ev.Reports != nil {
		q.Calibration = session.Encoding
	}
	if rules.Fall != (session.FallRule{}) && q.Calibration != "" { // a report may turn out to be a compaction
		q.WorkingSet = true
	}
	if ev.AgentID != "" {
		q.Calibration = ""
	}
	if q.Model != "" && q.Provider == "" {
		q.Provider = cmp.Or(model.Parse(q.Model).Provider, rules.Provider)
	}
	switch ev.Kind {
	case session.CompactionOpened, session.CompactionDone:
		q.WorkingSet = true
	case session.PromptSubmitted, session.TurnFinished, session.TurnFailed, session.SessionEnded:
		if ev.AgentID == "" {
			q.Task, q.TaskThreshold, q.WindowTasks = session.TurnTask, cfg.Metrics.ThresholdTokens, cfg.Metrics.WindowTasks
		}
	}
	return q
}

// logOutcome logs the event: every injected text, and other effects at debug level.
func (s *Service) logOutcome(ctx context.Context, ev session.Event, out Outcome) {
	log := s.Log.With("host", ev.Host, "session", ev.SessionID, "event", ev.Name)
	for _, e := range out.Effects {
		said := e.Text
		if e.Private {
			said = fmt.Sprintf("(%d bytes that quote the user)", len(e.Text))
		}
		log.Info("said", "kind", e.Kind, "text", said, "lines", len(e.Lines))
	}
	if out.Alert != nil {
		log.Warn("too many tasks over the threshold", "rate", out.Alert.Rate, "tasks", out.Alert.Tasks)
	}
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	for _, use := range ev.Paths {
		log.Debug("path recorded", "path", use.Path)
	}
	if ev.Kind == session.PromptSubmitted {
		log.Debug("prompt seen", "characters", len([]rune(ev.Prompt)), "machine", ev.Machine)
	}
}
