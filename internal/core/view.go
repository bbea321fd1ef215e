package core

import (
	"cmp"
	"math"
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Level is the class of an occupancy.
type Level string

// The levels, from roomy to full.
const (
	LevelNormal   Level = "normal"
	LevelNotice   Level = "notice"
	LevelWarning  Level = "warning"
	LevelCritical Level = "critical"
)

// criticalLeftPercent is a share of the window, in percent. If less than that is left to the compaction point, the level is critical.
const criticalLeftPercent = 5

// LevelOf returns the level of an occupancy. toCompaction is negative when there is no compaction point. levels are where notice,
// warning and critical begin.
func LevelOf(tokens, window, toCompaction int, levels [3]settings.Mark) Level {
	switch {
	case tokens >= levels[2].In(window), toCompaction >= 0 && toCompaction*100 < criticalLeftPercent*window:
		return LevelCritical
	case tokens >= levels[1].In(window):
		return LevelWarning
	case tokens >= levels[0].In(window):
		return LevelNotice
	}
	return LevelNormal
}

// LevelsFor returns where the levels of a model begin.
func LevelsFor(modelID string, cfg settings.Config) (levels [3]settings.Mark) {
	for i, percent := range cfg.Levels {
		levels[i].Percent = percent
	}
	if len(cfg.ModelLevels) == 0 {
		return levels
	}
	marks, _ := model.Matching(cfg.ModelLevels, modelID)
	for i, s := range marks {
		levels[i], _ = settings.ParseMark(s) // Config.Check has read it
	}
	return levels
}

// Usage is how full a window is, as clients see it. Tokens throughout, null is unknown. Percent may exceed 100; Display is
// what is shown to people.
type Usage struct {
	Tokens           *int                   `json:"tokens"`            // as reported, or estimated if Provenance says so
	ProjectedTokens  *int                   `json:"projectedTokens"`   // with the estimated content since the report
	Band             *session.Band          `json:"band"`              // the range of the true value, for an estimate
	WindowTokens     int                    `json:"windowTokens"`      // how many the model accepts
	WindowProvenance model.WindowProvenance `json:"windowProvenance"`  // what says so
	WindowWhy        string                 `json:"windowWhy"`         // the same for people
	Percent          *float64               `json:"percent"`           // Tokens as a share of the window
	Level            *Level                 `json:"level"`             // the same in a word
	Provenance       *session.Provenance    `json:"provenance"`        // where Tokens come from
	Exact            bool                   `json:"exact"`             // the provider's own figure, not an estimate
	AsOf             *time.Time             `json:"asOf"`              // when Tokens were so many
	Stale            bool                   `json:"stale"`             // at least one response behind
	CompactionRule   model.CompactionKind   `json:"compactionRule"`    // whether the host compacts by itself
	CompactionTokens *int                   `json:"compactionTokens"`  // the compaction point; null unless CompactionRule is threshold
	ToCompaction     *int                   `json:"toCompaction"`      // from ProjectedTokens to the compaction point, never negative
	RefusalTokens    *int                   `json:"refusalTokens"`     // where a request is refused; null if the host compacts before that
	ToRefusal        *int                   `json:"toRefusal"`         // from ProjectedTokens to the refusal, never negative
	Display          Display                `json:"display"`           // the figures for users
	GrowthPerTurn    *int                   `json:"growthPerTurn"`     // what a turn has added lately
	TurnsLeft        *session.Forecast      `json:"turnsToCompaction"` // the number of turns until the host compacts, or refuses if it does not compact
}

// Display is a usage for users: clamped and rounded.
type Display struct {
	Tokens      *int `json:"tokens"`      // at most LimitTokens
	LimitTokens int  `json:"limitTokens"` // what 100 percent stands for
	Percent     *int `json:"percent"`     // 0–100
}

// SessionState is the state of a session.
type SessionState string

// The states. A session is idle after IdleAfter without events, or when its host's process has ended.
const (
	StateActive SessionState = "active"
	StateIdle   SessionState = "idle"
	StateEnded  SessionState = "ended"
)

// Source is the way in which ctxls knows a session.
type Source string

// The sources.
const (
	SourceHooks  Source = "hooks"  // the host's hooks, or a client
	SourceRecord Source = "record" // the host's own record on the disk, without a hook
)

// SessionView is a session in the form for clients.
type SessionView struct {
	Host        session.Host `json:"host"`                  // the program that runs the agent
	SessionID   string       `json:"sessionId"`             // the host's own id of it
	CWD         string       `json:"cwd"`                   // its working directory
	Title       string       `json:"title"`                 // sanitized, as are the names below
	Model       string       `json:"model"`                 // as the host spells it; empty is unknown
	Provider    string       `json:"provider"`              // who serves the model
	Usage       Usage        `json:"usage"`                 // of the main chain
	Agents      []AgentView  `json:"agents"`                // sub-agents that have not ended; Usage does not include their tokens
	AgentsEnded []AgentView  `json:"agentsEnded,omitempty"` // sub-agents that ended since the user's last prompt
	Compactions int          `json:"compactions"`           // how often the host replaced the history by a summary
	Compacting  bool         `json:"compacting"`            // it does so now
	WorkingSet  []string     `json:"workingSet"`            // files in use for display, the most recently used first
	State       SessionState `json:"state"`                 // whether it lives
	Source      Source       `json:"source"`                // what told of it
	StartedAt   time.Time    `json:"startedAt"`             // its first event
	UpdatedAt   time.Time    `json:"updatedAt"`             // its last event
	EndedAt     *time.Time   `json:"endedAt"`               // null while it lives
}

// AgentView is a sub-agent in the form for clients.
type AgentView struct {
	AgentID   string `json:"agentId"`   // the host's own id of it
	AgentType string `json:"agentType"` // the host's name for its role
	Usage     Usage  `json:"usage"`     // how full its window is
}

// View returns a stored session in the form for clients at a time.
func View(s session.Snapshot, learned session.LearnedWindow, cfg settings.Config, rules session.Rules, now time.Time) SessionView {
	e := s.Session
	compaction := e.Compaction.Expire(now)
	usage := usageOf(e.Gauge, e.Model, e.Window(learned, cfg, rules, now), cfg)
	if perTurn, known := e.GrowthPerTurn(); known {
		usage.GrowthPerTurn = &perTurn
	}
	if left := cmp.Or(usage.ToCompaction, usage.ToRefusal); left != nil {
		if turns, known := e.TurnsTo(*left, rules); known {
			usage.TurnsLeft = &turns
		}
	}
	v := SessionView{
		Host: e.Host, SessionID: e.SessionID, CWD: e.CWD,
		Title: text.Sanitize(e.Title, text.MaxLabel), Model: text.Sanitize(e.Model, text.MaxLabel), Provider: text.Sanitize(providerOf(e, rules), text.MaxLabel),
		Usage: usage, Agents: []AgentView{}, WorkingSet: []string{},
		Compactions: compaction.Count, Compacting: !compaction.OpenedAt.IsZero(), State: StateActive,
		StartedAt: e.StartedAt, UpdatedAt: e.UpdatedAt, Source: SourceHooks,
	}
	if e.Recorded {
		v.Source = SourceRecord
	}
	for _, a := range e.Agents {
		shown := viewAgent(a, e, cfg, rules)
		switch {
		case a.EndedAt.IsZero():
			v.Agents = append(v.Agents, shown)
		case !a.EndedAt.Before(e.PromptAt):
			v.AgentsEnded = append(v.AgentsEnded, shown)
		}
	}
	first := session.OnceShown(e.CWD)
	for _, use := range s.WorkingSet {
		shown := session.ShowPath(use.Path, e.CWD, cfg.Compaction.MaxPathLength)
		if len(v.WorkingSet) < cfg.Compaction.MaxPaths && first(shown) {
			v.WorkingSet = append(v.WorkingSet, shown)
		}
	}
	switch {
	case !e.EndedAt.IsZero():
		v.State, v.EndedAt = StateEnded, &e.EndedAt
	case now.Sub(e.UpdatedAt) > session.IdleAfter:
		v.State = StateIdle
	}
	return v
}

// viewAgent returns a sub-agent of a session in the form for clients.
func viewAgent(a session.Agent, of session.Session, cfg settings.Config, rules session.Rules) AgentView {
	w := session.WindowOf(session.WindowInput{Host: of.Host, Version: of.HostVersion, Provider: of.Provider, Model: a.Model, Limits: a.Limits, Settings: of.Settings}, cfg.Window, rules)
	return AgentView{a.AgentID, text.Sanitize(a.AgentType, text.MaxLabel), usageOf(a.Gauge, a.Model, w, cfg)}
}

func providerOf(s session.Session, rules session.Rules) string {
	if s.Provider != "" {
		return s.Provider
	}
	if p := model.Parse(s.Model).Provider; p != "" {
		return p
	}
	return rules.Provider
}

func usageOf(g session.Gauge, modelID string, w model.Window, cfg settings.Config) Usage {
	u := Usage{WindowTokens: w.Tokens, WindowProvenance: w.Provenance, WindowWhy: w.Why, Display: Display{LimitTokens: session.DisplayLimit(w, cfg)}}
	u.CompactionRule = w.CompactionRule
	point, left := &w.RefusalTokens, &u.ToRefusal
	if w.CompactionRule == model.CompactsAt {
		point, left = &w.CompactionTokens, &u.ToCompaction
		u.CompactionTokens = point
	} else {
		u.RefusalTokens = point
	}
	if !g.Known {
		return u
	}
	tokens, projected := g.Tokens, g.Projected()
	if !g.Reported() {
		tokens = projected // there is no report to keep apart
	}
	if band, estimated := g.Band(); estimated {
		u.Band = &band
	}
	percent := math.Round(float64(tokens)/float64(w.Tokens)*10_000) / 100
	toPoint := max(*point-projected, 0) // the host decides by its own projection
	*left = &toPoint
	level := LevelOf(tokens, w.Tokens, max(*point-tokens, 0), LevelsFor(modelID, cfg))
	shown, shownPercent := min(tokens, u.Display.LimitTokens), text.Percent(tokens, u.Display.LimitTokens)
	u.Tokens, u.ProjectedTokens, u.Percent, u.Level, u.Provenance = &tokens, &projected, &percent, &level, &g.Provenance
	u.Exact, u.AsOf, u.Stale = g.Provenance != session.ProvenanceEstimate, &g.At, g.Behind
	u.Display.Tokens, u.Display.Percent = &shown, &shownPercent
	return u
}
