package core

import (
	"math"
	"time"
)

// Level says how full a window is, in words.
type Level string

// The levels, from roomy to full.
const (
	LevelNormal   Level = "normal"
	LevelNotice   Level = "notice"
	LevelWarning  Level = "warning"
	LevelCritical Level = "critical"
)

// criticalLeftPercent is what is left to the compaction point, as a share of the window in percent, below which any share
// is critical.
const criticalLeftPercent = 5

// LevelOf returns the level of an occupancy. toCompaction is negative when there is no compaction point.
func LevelOf(tokens, window, toCompaction int, levels []int) Level {
	switch {
	case tokens*100 >= levels[2]*window, toCompaction >= 0 && toCompaction*100 < criticalLeftPercent*window:
		return LevelCritical
	case tokens*100 >= levels[1]*window:
		return LevelWarning
	case tokens*100 >= levels[0]*window:
		return LevelNotice
	}
	return LevelNormal
}

// Usage is how full a window is, as clients see it. Tokens throughout, null is unknown. Percent may exceed 100; Display is
// what is shown to people.
type Usage struct {
	Tokens           *int             `json:"tokens"`            // as reported, or estimated where Provenance says so
	ProjectedTokens  *int             `json:"projectedTokens"`   // with the estimate of what was appended since
	Band             *Band            `json:"band"`              // where the truth lies, of an estimate
	WindowTokens     int              `json:"windowTokens"`      // how many the model accepts
	WindowProvenance WindowProvenance `json:"windowProvenance"`  // what says so
	WindowWhy        string           `json:"windowWhy"`         // the same for people
	Percent          *float64         `json:"percent"`           // Tokens as a share of the window
	Level            *Level           `json:"level"`             // the same in a word
	Provenance       *Provenance      `json:"provenance"`        // where Tokens come from
	Exact            bool             `json:"exact"`             // a figure of the provider's, not of ctxls'
	AsOf             *time.Time       `json:"asOf"`              // when Tokens were so many
	Stale            bool             `json:"stale"`             // at least one response behind
	CompactionTokens *int             `json:"compactionTokens"`  // where the host compacts; null when it never does
	ToCompaction     *int             `json:"toCompaction"`      // what is left until then, never negative
	Display          Display          `json:"display"`           // the figure as people are shown it
	GrowthPerTurn    *int             `json:"growthPerTurn"`     // what a turn has added lately
	TurnsLeft        *Forecast        `json:"turnsToCompaction"` // how many turns are left until the host compacts, at that growth
}

// Band is a range of tokens.
type Band struct {
	Low  int `json:"low"`  // the least
	High int `json:"high"` // the most
}

// Display is a usage as people are shown it: clamped and rounded.
type Display struct {
	Tokens      *int `json:"tokens"`      // at most LimitTokens
	LimitTokens int  `json:"limitTokens"` // what 100 percent stands for
	Percent     *int `json:"percent"`     // 0–100
}

// Forecast is how many turns are left.
type Forecast struct {
	Low  int `json:"low"`  // at the least
	Mid  int `json:"mid"`  // probably
	High int `json:"high"` // at the most
}

// SessionState says whether a session lives.
type SessionState string

// The states. A session is idle after IdleAfter of silence, or when the process of its host is gone.
const (
	StateActive SessionState = "active"
	StateIdle   SessionState = "idle"
	StateEnded  SessionState = "ended"
)

// IdleAfter is how long a session may be silent before it counts as idle.
const IdleAfter = 30 * time.Minute

// SessionView is a session as clients see it.
type SessionView struct {
	Host        Host         `json:"host"`                  // the program that runs the agent
	SessionID   string       `json:"sessionId"`             // the host's own id of it
	CWD         string       `json:"cwd"`                   // its working directory
	Title       string       `json:"title"`                 // sanitised, as are the names below
	Model       string       `json:"model"`                 // as the host names it; empty is unknown
	Provider    string       `json:"provider"`              // who serves the model
	Usage       Usage        `json:"usage"`                 // how full the window of its main chain is
	Agents      []AgentView  `json:"agents"`                // its sub-agents that live; their tokens are not in Usage
	AgentsEnded []AgentView  `json:"agentsEnded,omitempty"` // those that ended since a person's last prompt
	Compactions int          `json:"compactions"`           // how often the host has replaced its history with a summary
	Compacting  bool         `json:"compacting"`            // it does so now
	WorkingSet  []string     `json:"workingSet"`            // files in use as shown, the most recently used first
	State       SessionState `json:"state"`                 // whether it lives
	StartedAt   time.Time    `json:"startedAt"`             // its first event
	UpdatedAt   time.Time    `json:"updatedAt"`             // its last event
	EndedAt     *time.Time   `json:"endedAt"`               // null while it lives
}

// AgentView is a sub-agent as clients see it.
type AgentView struct {
	AgentID   string `json:"agentId"`   // the host's own id of it
	AgentType string `json:"agentType"` // the host's name for what it does
	Usage     Usage  `json:"usage"`     // how full its window is
}

// maxLabel is the most characters of a title or a name that clients are given.
const maxLabel = 300

// View returns the session as clients see it at the given time.
func (s Snapshot) View(learned LearnedWindow, cfg Config, rules Rules, now time.Time) SessionView {
	e := s.Session
	compaction := e.Compaction.Expire(now)
	usage := usageOf(e.Gauge, e.window(learned, cfg, rules), cfg)
	if perTurn, known := e.GrowthPerTurn(); known {
		usage.GrowthPerTurn = &perTurn
	}
	if usage.ToCompaction != nil {
		if turns, known := e.TurnsTo(*usage.ToCompaction); known {
			usage.TurnsLeft = &turns
		}
	}
	v := SessionView{
		Host: e.Host, SessionID: e.SessionID, CWD: e.CWD,
		Title: Sanitize(e.Title, maxLabel), Model: Sanitize(e.Model, maxLabel), Provider: Sanitize(providerOf(e, rules), maxLabel),
		Usage: usage, Agents: []AgentView{}, WorkingSet: []string{},
		Compactions: compaction.Count, Compacting: !compaction.OpenedAt.IsZero(), State: StateActive,
		StartedAt: e.StartedAt, UpdatedAt: e.UpdatedAt,
	}
	for _, a := range e.Agents {
		w := ResolveWindow(e.Host, e.Provider, a.Model, a.Limits, LearnedWindow{}, cfg.Window, rules)
		shown := AgentView{a.AgentID, Sanitize(a.AgentType, maxLabel), usageOf(a.Gauge, w, cfg)}
		switch {
		case a.EndedAt.IsZero():
			v.Agents = append(v.Agents, shown)
		case !a.EndedAt.Before(e.PromptAt):
			v.AgentsEnded = append(v.AgentsEnded, shown)
		}
	}
	first := onceShown(e.CWD)
	for _, use := range s.WorkingSet {
		shown := ShowPath(use.Path, e.CWD, cfg.Compaction.MaxPathLength)
		if len(v.WorkingSet) < cfg.Compaction.MaxPaths && first(shown) {
			v.WorkingSet = append(v.WorkingSet, shown)
		}
	}
	switch {
	case !e.EndedAt.IsZero():
		v.State, v.EndedAt = StateEnded, &e.EndedAt
	case now.Sub(e.UpdatedAt) > IdleAfter:
		v.State = StateIdle
	}
	return v
}

// window returns the window in force for the session's main chain.
func (s Session) window(learned LearnedWindow, cfg Config, rules Rules) Window {
	if s.Model == "" {
		learned = s.Unnamed
	}
	return ResolveWindow(s.Host, s.Provider, s.Model, s.Limits, learned, cfg.Window, rules)
}

func providerOf(s Session, rules Rules) string {
	if s.Provider != "" {
		return s.Provider
	}
	if p := ParseModel(s.Model).Provider; p != "" {
		return p
	}
	return rules.Provider
}

func usageOf(g Gauge, w Window, cfg Config) Usage {
	u := Usage{WindowTokens: w.Tokens, WindowProvenance: w.Provenance, WindowWhy: w.Why, Display: Display{LimitTokens: displayLimit(w, cfg)}}
	toCompaction := -1
	if w.CompactionTokens > 0 {
		u.CompactionTokens = &w.CompactionTokens
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
	if w.CompactionTokens > 0 {
		toCompaction = max(w.CompactionTokens-tokens, 0)
		u.ToCompaction = &toCompaction
	}
	level := LevelOf(tokens, w.Tokens, toCompaction, cfg.Levels)
	shown, shownPercent := min(tokens, u.Display.LimitTokens), Percent(tokens, u.Display.LimitTokens)
	u.Tokens, u.ProjectedTokens, u.Percent, u.Level, u.Provenance = &tokens, &projected, &percent, &level, &g.Provenance
	u.Exact, u.AsOf, u.Stale = g.Provenance != ProvenanceEstimate, &g.At, g.Behind
	u.Display.Tokens, u.Display.Percent = &shown, &shownPercent
	return u
}

// displayLimit returns the limit that figures are shown against, in tokens: what the user chose, else the window in force
// while the marks are on, since one session must not hear two different shares, else a million.
func displayLimit(w Window, cfg Config) int {
	chosen := cfg.Reminder.DisplayLimitTokens
	switch {
	case chosen != nil && *chosen > 0:
		return *chosen
	case chosen == nil && cfg.Tracking.MaxTokens.Off():
		return million
	}
	return trackingLimit(w, cfg)
}

// trackingLimit returns what 100 % stands for in the marks, in tokens.
func trackingLimit(w Window, cfg Config) int {
	if n := cfg.Tracking.MaxTokens.Tokens; n > 0 {
		return n
	}
	return w.Tokens
}
