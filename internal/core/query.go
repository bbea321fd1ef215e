package core

import (
	"cmp"
	"context"
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Sessions returns the sessions that match f in the form for clients, the most recently updated first.
func (s *Service) Sessions(ctx context.Context, f SessionFilter) ([]SessionView, error) {
	f.Folders = s.Spellings(f.Folders)
	stored, err := s.seen().Sessions(ctx, f)
	if err != nil {
		return nil, err
	}
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return nil, err
	}
	return s.views(stored, learned), nil
}

// Spellings returns the folders, and the resolved target of each folder that is reached through a symbolic link.
func (s *Service) Spellings(folders []string) []string {
	if s.RealPath == nil {
		return folders
	}
	all := slices.Clone(folders)
	for _, folder := range folders {
		if plain, err := s.RealPath(folder); err == nil && !slices.Contains(all, plain) {
			all = append(all, plain)
		}
	}
	return all
}

// Session returns one session. Without a host, only one host may have the ID.
func (s *Service) Session(ctx context.Context, key session.Key) (SessionView, error) {
	key, err := s.Resolve(ctx, key)
	if err != nil {
		return SessionView{}, err
	}
	stored, err := s.seen().Session(ctx, key)
	if err != nil {
		return SessionView{}, err
	}
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return SessionView{}, err
	}
	return s.views([]session.Snapshot{stored}, learned)[0], nil
}

// Resolve completes a key without a host and checks that the session exists. An unknown ID is an error with coded.NotFound. An ID of
// several hosts is an error with coded.Invalid.
func (s *Service) Resolve(ctx context.Context, key session.Key) (session.Key, error) {
	found, err := s.find(ctx, key)
	if err != nil {
		return key, err
	}
	return found.Key(), nil
}

// find returns the session of a key, with or without a host.
func (s *Service) find(ctx context.Context, key session.Key) (session.Session, error) {
	found, err := s.seen().FindSessions(ctx, key.SessionID)
	if err != nil {
		return session.Session{}, err
	}
	if key.Host != "" {
		found = slices.DeleteFunc(found, func(one session.Session) bool { return one.Host != key.Host })
	}
	switch len(found) {
	case 0:
		return session.Session{}, coded.Errorf(coded.NotFound, "no session %q", text.Sanitize(key.SessionID, 100))
	case 1:
		return found[0], nil
	}
	return session.Session{}, coded.Field("host", "%d hosts have a session %q; name one of them", len(found), text.Sanitize(key.SessionID, 100))
}

// Samples returns the newest points of a session's history, oldest first; all of them if limit is 0.
func (s *Service) Samples(ctx context.Context, key session.Key, limit int) ([]session.Sample, error) {
	key, err := s.Resolve(ctx, key)
	if err != nil {
		return nil, err
	}
	return s.seen().Samples(ctx, key, limit)
}

// Inspection is the whole state, for an agent that asks about its window.
type Inspection struct {
	Report          fleet.ContextOptimizationReport `json:"report"`          // figures over the recent tasks of all sessions
	Session         *SessionView                    `json:"session"`         // the caller's own session; null if it cannot be determined
	Sessions        []SessionView                   `json:"sessions"`        // those that have not ended, the most recently updated first, including the caller's
	OmittedSessions int                             `json:"omittedSessions"` // how many more there are
	Windows         []session.LearnedWindow         `json:"windows"`         // learned from requests that providers accepted and refused
}

// Caller identifies the process that inspects.
type Caller struct {
	Folders []string // of the caller's workspace
	HostPID int      // the process that runs the caller's agent; 0 is unknown
	Limit   int      // the maximum number of sessions; 0 is no limit
}

// Inspect returns the whole state. The caller's own session is the most recently updated one of its host's process, or else of its
// folders.
func (s *Service) Inspect(ctx context.Context, by Caller) (Inspection, error) {
	var in Inspection
	var err error
	if in.Report, err = s.Report(ctx); err != nil {
		return in, err
	}
	if in.Windows, err = s.Store.Windows(ctx); err != nil {
		return in, err
	}
	stored, err := s.seen().Sessions(ctx, SessionFilter{})
	if err != nil {
		return in, err
	}
	in.Sessions = s.views(stored, in.Windows)
	own := slices.IndexFunc(stored, func(snap session.Snapshot) bool { return by.HostPID > 0 && snap.Session.HostPID == by.HostPID })
	if own < 0 && len(by.Folders) > 0 {
		folders := s.Spellings(by.Folders)
		own = slices.IndexFunc(stored, func(snap session.Snapshot) bool { return pathname.InFolders(folders, snap.Session.CWD) })
	}
	if own >= 0 {
		in.Session = &in.Sessions[own]
	}
	if by.Limit > 0 && len(in.Sessions) > by.Limit {
		in.OmittedSessions = len(in.Sessions) - by.Limit
		kept := slices.Clone(in.Sessions[:by.Limit])
		if own >= by.Limit {
			kept[by.Limit-1] = in.Sessions[own]
		}
		in.Sessions = kept
	}
	return in, nil
}

// Window returns the window in force for a model under a host, and the reason.
func (s *Service) Window(ctx context.Context, host session.Host, provider, modelID string) (model.Window, error) {
	if err := s.CheckHost(host); err != nil {
		return model.Window{}, err
	}
	return s.modelWindow(ctx, host, provider, modelID, s.Config(""), s.rules(host))
}

// ForgetWindows deletes what was learned about a model's window, in all hosts and from all providers; "" is every model. It returns what
// it deleted.
func (s *Service) ForgetWindows(ctx context.Context, name string) (forgotten []session.LearnedWindow, err error) {
	all, err := s.Store.Windows(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if name != "" && l.Model != model.Plain(name) {
			continue
		}
		nothing := session.LearnedWindow{Host: l.Host, Provider: l.Provider, Model: l.Model}
		if err := s.Store.Update(ctx, Query{}, func(session.State) session.Changes { return session.Changes{Learned: &nothing} }); err != nil {
			return forgotten, err
		}
		forgotten = append(forgotten, l)
	}
	return forgotten, nil
}

// modelWindow resolves the window of a model with what was learned about it.
func (s *Service) modelWindow(ctx context.Context, host session.Host, provider, modelID string, cfg settings.Config, rules session.Rules) (model.Window, error) {
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return model.Window{}, err
	}
	served := cmp.Or(provider, model.Parse(modelID).Provider, rules.Provider)
	var known session.LearnedWindow
	for _, l := range learned {
		if l.Host == host && l.Provider == served && l.Model == model.Plain(modelID) {
			known = l
		}
	}
	return session.WindowOf(session.WindowInput{Host: host, Provider: provider, Model: modelID, Learned: known.Current(s.Now())}, cfg.Window, rules), nil
}

// ViewAgents returns sub-agents of a session in the form for clients, with the caller's figures. It stores nothing. The session's host,
// version and settings decide where they compact; the session need not be stored.
func (s *Service) ViewAgents(ctx context.Context, key session.Key, cwd string, agents []session.Agent) ([]AgentView, error) {
	stored, err := s.Store.Load(ctx, Query{Key: key})
	if err != nil {
		return nil, err
	}
	of := stored.Session
	of.Host = key.Host
	views := make([]AgentView, 0, len(agents))
	for _, a := range agents {
		views = append(views, viewAgent(a, of, s.Config(cmp.Or(of.CWD, cwd)), s.rules(key.Host)))
	}
	return views, nil
}

// Report returns the fleet figures.
func (s *Service) Report(ctx context.Context) (fleet.ContextOptimizationReport, error) {
	cfg := s.Config("").Metrics
	figures, err := s.Store.Fleet(ctx, cfg.WindowTasks)
	if err != nil {
		return fleet.ContextOptimizationReport{}, err
	}
	return figures.Report(cfg), nil
}

// RecordTask records the tokens of one task. It returns the new rate, and the alert that the task raised, if any.
func (s *Service) RecordTask(ctx context.Context, id string, tokens int) (rate float64, alert *fleet.Alert, err error) {
	cfg, now := s.Config("").Metrics, s.Now()
	q := Query{Task: func(session.Session) string { return id }, TaskThreshold: cfg.ThresholdTokens, WindowTasks: cfg.WindowTasks}
	err = s.Store.Update(ctx, q, func(st session.State) session.Changes {
		sums := st.Tasks.Record(tokens, cfg.ThresholdTokens)
		changes := session.Changes{Task: &fleet.Task{ID: id, Tokens: tokens, At: now}, WindowTasks: cfg.WindowTasks}
		rate = sums.Rate()
		if a, due := st.Alert.Due(sums, cfg, now); due {
			alert, changes.Alert = &a, &fleet.AlertGate{At: now, Rate: a.Rate}
		}
		return changes
	})
	return rate, alert, err
}

// CountTrim adds a trim that saved tokens to the fleet figures.
func (s *Service) CountTrim(ctx context.Context, savedTokens int) error {
	return s.Store.Update(ctx, Query{}, func(session.State) session.Changes {
		return session.Changes{Trim: &fleet.TrimCount{Operations: 1, Tokens: savedTokens}}
	})
}

// views returns sessions in the form for clients, with learned windows.
func (s *Service) views(stored []session.Snapshot, learned []session.LearnedWindow) []SessionView {
	type modelID struct {
		host            session.Host
		provider, plain string
	}
	byModel := make(map[modelID]session.LearnedWindow, len(learned))
	for _, l := range learned {
		byModel[modelID{l.Host, l.Provider, l.Model}] = l
	}
	now, views := s.Now(), make([]SessionView, 0, len(stored))
	for _, snap := range stored {
		l := byModel[modelID{snap.Session.Host, snap.Session.Provider, model.Plain(snap.Session.Model)}]
		view := View(snap, l, s.Config(snap.Session.CWD), s.rules(snap.Session.Host), now)
		if view.State == StateActive && s.HostGone(snap.Session.HostPID) {
			view.State = StateIdle
		}
		views = append(views, view)
	}
	return views
}

// FleetReport is the fleet figures with their distribution.
type FleetReport struct {
	fleet.ContextOptimizationReport
	Sessions    int         `json:"sessions"`    // the number of known sessions, including those that ended
	Compactions int         `json:"compactions"` // of those sessions
	Histogram   []fleet.Bin `json:"histogram"`   // of the tasks, without gaps from 0 on; the last is not empty
	// TaskTokens are the tokens of each task, oldest first.
	TaskTokens []int `json:"taskTokens"`
}

// FleetReport returns the fleet figures with their distribution.
func (s *Service) FleetReport(ctx context.Context) (FleetReport, error) {
	cfg := s.Config("").Metrics
	figures, err := s.Store.Fleet(ctx, cfg.WindowTasks)
	if err != nil {
		return FleetReport{}, err
	}
	stored, err := s.Store.Sessions(ctx, SessionFilter{IncludeEnded: true})
	if err != nil {
		return FleetReport{}, err
	}
	r := FleetReport{ContextOptimizationReport: figures.Report(cfg), Sessions: len(stored), Histogram: fleet.Histogram(figures.Tokens), TaskTokens: slices.Clone(figures.Tokens)}
	slices.Reverse(r.TaskTokens)
	if r.TaskTokens == nil {
		r.TaskTokens = []int{}
	}
	for _, snap := range stored {
		r.Compactions += snap.Session.Compaction.Count
	}
	return r, nil
}
