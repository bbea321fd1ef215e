package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config is every setting, with the JSON names under which files carry them. DefaultConfig returns the defaults; the
// config package finds and reads files. The doc comments of the fields are what `ctxls config schema` tells people, so the
// tags beside them carry the allowed values: min and max (inclusive, of every number in the field), len (of a list), enum
// (separated by |). Token amounts end at a billion, a thousand times the largest window in use, so that percentages of them are exact.
type Config struct {
	Window WindowConfig `json:"window" doc:"How large a model's context window is taken to be."`
	Levels []int        `json:"levels" doc:"Share of the window, in percent, at which the gauge turns to notice, warning and critical. Three rising numbers." min:"1" max:"100" len:"3"`
	// ModelLevels goes before Levels for the models that its patterns match.
	ModelLevels map[string][]string `json:"modelLevels" doc:"The same by model, as shares of the window or in tokens: {\"claude-opus-5\": [\"300k\", \"500k\", \"85%\"]}. A key is a model id, or a pattern in which * stands for anything."`
	Tracking    TrackingConfig      `json:"tracking" doc:"The mark [context used: X%] that goes with each prompt."`
	Reminder    ReminderConfig      `json:"reminder" doc:"One calm reminder of how much of the window is left, after tools ran."`
	Handoff     HandoffConfig       `json:"handoff" doc:"A note, once, that it is time to hand the work to a fresh session."`
	Compaction  CompactionConfig    `json:"compaction" doc:"What is kept through a compaction."`
	Trim        TrimConfig          `json:"trim" doc:"When a conversation counts as too long, and what it is trimmed to."`
	Prune       PruneConfig         `json:"prune" doc:"What is left out of the requests of hosts that allow it."`
	Metrics     MetricsConfig       `json:"metrics" doc:"The fleet figures: how many recent tasks they cover and when they raise an alert."`
	Usage       UsageConfig         `json:"usage" doc:"Which of a provider's numbers add up to occupancy."`
	Alerts      AlertsConfig        `json:"alerts" doc:"What is run when a window fills up. A running server, live screen or ctxls alerts runs it, never a hook."`
	Statusline  StatuslineConfig    `json:"statusline" doc:"The line that ctxls statusline prints."`
	Discovery   DiscoveryConfig     `json:"discovery" doc:"Sessions that agent hosts keep on the disk, shown without any hook."`
	Store       StoreConfig         `json:"store" doc:"Where state is kept, and how much of it."`
	Log         LogConfig           `json:"log" doc:"The log file."`
}

// WindowConfig says how large windows are.
type WindowConfig struct {
	DefaultTokens int            `json:"defaultTokens" doc:"Window of an unknown model, in tokens." min:"1" max:"1000000000"`
	Overrides     map[string]int `json:"overrides" doc:"Windows by model, in tokens. A key is a model id, or a pattern in which * stands for anything." min:"1" max:"1000000000"`
	// Workspace is what a workspace asks for. It is kept apart, because it counts for less than what the user or a host says.
	Workspace WorkspaceWindow `json:"-"`
}

// WorkspaceWindow is the window settings of a workspace's .ctxls.json, or of an editor that passes them on.
type WorkspaceWindow struct {
	Source        string         // where they come from, for people
	DefaultTokens int            // as WindowConfig.DefaultTokens; 0 is none
	Overrides     map[string]int // as WindowConfig.Overrides
}

// TrackingConfig is about the mark with each prompt.
type TrackingConfig struct {
	MaxTokens TokenLimit `json:"maxTokens" doc:"What 100 % stands for: \"auto\" (the window in force), a number of tokens, or null to say nothing." min:"1" max:"1000000000"`
	GuardDir  string     `json:"guardDir" doc:"Speak only in workspaces that hold this directory (a relative path); empty is everywhere."`
	Guidance  bool       `json:"guidance" doc:"At session start, explain the marks and what to do at 50, 70 and 85 %."`
}

// ReminderConfig is about the one reminder a session gets.
type ReminderConfig struct {
	Enabled            bool   `json:"enabled" doc:"Give the reminder at all."`
	ThresholdPercent   int    `json:"thresholdPercent" doc:"Share of the limit at which it is given, in percent." min:"1" max:"100"`
	AnthropicOnly      bool   `json:"anthropicOnly" doc:"Only for models of Anthropic."`
	Rearm              string `json:"rearm" doc:"When it may be given again: never in this session, or after a compaction." enum:"session|compaction"`
	ActualLimitTokens  *int   `json:"actualLimitTokens" doc:"What the threshold is a share of, in tokens; null or 0 is the window in force." min:"0" max:"1000000000"`
	DisplayLimitTokens *int   `json:"displayLimitTokens" doc:"The limit that the reminder's figures are shown against, in tokens; 0 is the window in force. null is 1000000, and the window in force while tracking is on, so that one session never hears two different shares." min:"0" max:"1000000000"`
	Message            string `json:"message" doc:"The text of the reminder; empty is the built-in one. {{usedTokens}}, {{usedPercent}}, {{remainingPercent}}, {{limitTokens}}, {{actualPercent}}, {{bar}} and {{model}} are replaced."`
}

// HandoffConfig is about handing the work over.
type HandoffConfig struct {
	Enabled bool `json:"enabled" doc:"Say so when occupancy crosses the mark."`
	Percent int  `json:"percent" doc:"The mark, as a share of the window in percent." min:"1" max:"100"`
}

// CompactionConfig is about what survives a compaction.
type CompactionConfig struct {
	PostCompactionPercent *int  `json:"postCompactionPercent" doc:"Estimated share of the window after a compaction, in percent, if the host does not report it. null is 32 % of what the window held before, and 30 % of the window where that is unknown; for OpenCode, 5,000 tokens more than the first request held." min:"10" max:"60"`
	TellSummarizer        *bool `json:"tellSummarizer" doc:"Hand the files in use to the model that writes the summary. null is the host's own rule: false for Claude Code, which discards a summary that it has written ahead when a hook adds to it, and true for other hosts."`
	MaxPaths              int   `json:"maxPaths" doc:"How many paths the working context names." min:"1" max:"200"`
	MaxPathLength         int   `json:"maxPathLength" doc:"Longest path shown, in characters." min:"20" max:"4096"`
	WordTokens            int   `json:"wordTokens" doc:"After a compaction, quote so many tokens of what the user wrote before it and the summary lacks. 0 quotes nothing." min:"0" max:"4000"`
	CommandTokens         int   `json:"commandTokens" doc:"After a compaction, name so many tokens of commands that were run before it; twice as many where the host does not show the summary. 0 names none." min:"0" max:"4000"`
}

// TrimConfig is about measuring and trimming conversations.
type TrimConfig struct {
	ThresholdTokens int `json:"thresholdTokens" doc:"A conversation above this many tokens is too long." min:"1" max:"1000000000"`
	TargetTokens    int `json:"targetTokens" doc:"What trimming brings it down to, in tokens; at most thresholdTokens." min:"1" max:"1000000000"`
}

// PruneConfig is about leaving out of requests what a plan finds.
type PruneConfig struct {
	Enabled bool `json:"enabled" doc:"Have OpenCode leave out of its requests what a session no longer needs, when that pays. OpenCode keeps the full conversation."`
}

// MetricsConfig is about the fleet figures.
type MetricsConfig struct {
	WindowTasks     int     `json:"windowTasks" doc:"How many of the last tasks the figures cover." min:"1" max:"100000"`
	ThresholdTokens int     `json:"thresholdTokens" doc:"A task above this many tokens exceeds." min:"1" max:"1000000000"`
	AlertRate       float64 `json:"alertRate" doc:"Share of exceeding tasks above which an alert is raised, 0 to 1." min:"0" max:"1"`
	AlertIntervalMs int     `json:"alertIntervalMs" doc:"Shortest time between two alerts, in milliseconds." min:"0" max:"86400000"`
}

// AlertInterval returns AlertIntervalMs as a duration.
func (m MetricsConfig) AlertInterval() time.Duration {
	return time.Duration(m.AlertIntervalMs) * time.Millisecond
}

// UsageConfig says which numbers add up.
type UsageConfig struct {
	CountCacheWrites bool  `json:"countCacheWrites" doc:"Count tokens written to the prompt cache as part of the window."`
	CountOutput      *bool `json:"countOutput" doc:"Count the answer's tokens as part of the window; null is the host's own rule."`
}

// AlertsConfig is about acting when a window fills up.
type AlertsConfig struct {
	At         []string `json:"at" doc:"When: \"notice\", \"warning\" or \"critical\" (a level), \"85%\" or \"300k\" (a share of the window, or tokens in it), \"20k left\" (tokens to the compaction), \"compaction\", and \"fleet\" (the alert over all tasks). Empty is never."`
	Command    string   `json:"command" doc:"A shell command to run. It gets JSON on stdin: trigger, session, and text for people. Empty is none."`
	Notify     bool     `json:"notify" doc:"Show a notification of the desktop: by notify-send, osascript or PowerShell."`
	IntervalMs int      `json:"intervalMs" doc:"Shortest time between two alerts of one process, in milliseconds. Later ones wait." min:"0" max:"86400000"`
}

// Interval returns IntervalMs as a duration.
func (a AlertsConfig) Interval() time.Duration { return time.Duration(a.IntervalMs) * time.Millisecond }

// StatuslineConfig is about the status line.
type StatuslineConfig struct {
	Format string `json:"format" doc:"The line, with {bar}, {percent}, {tokens}, {window}, {left}, {forecast}, {cache}, {model} and {level} replaced; a part between \" · \" whose values are all empty is left out; empty is the built-in one."`
}

// DiscoveryConfig is about the records that hosts keep of their sessions.
type DiscoveryConfig struct {
	Enabled bool   `json:"enabled" doc:"Show the sessions that hosts keep on the disk. ctxls only reads them."`
	Hosts   string `json:"hosts" doc:"Names of the hosts whose records are read, separated by commas; empty is all."`
}

// Names returns the hosts whose records are read; none is all.
func (c DiscoveryConfig) Names() []string {
	return strings.FieldsFunc(c.Hosts, func(r rune) bool { return r == ',' || r == ' ' })
}

// Reads reports whether the records of a host are read.
func (c DiscoveryConfig) Reads(host string) bool {
	names := c.Names()
	return c.Enabled && (len(names) == 0 || slices.Contains(names, host))
}

// StoreConfig is about the state.
type StoreConfig struct {
	Path        string `json:"path" doc:"The database file, an absolute path or one that begins with ~/; empty is the default place of the system."`
	MaxSessions int    `json:"maxSessions" doc:"How many sessions are kept; the longest silent go first." min:"1" max:"100000"`
	KeepPrompts bool   `json:"keepPrompts" doc:"Keep the text of the last prompt of a session, not only its time and length."`
}

// LogConfig is about the log.
type LogConfig struct {
	Level string `json:"level" doc:"The least that is logged." enum:"debug|info|warn|error"`
	Path  string `json:"path" doc:"The log file, an absolute path or one that begins with ~/; empty is ctxls.log beside the database."`
}

// DefaultConfig returns the settings in force without any settings file.
func Default() Config {
	return Config{
		Window: WindowConfig{DefaultTokens: 200_000, Overrides: map[string]int{}},
		Levels: []int{50, 70, 85}, ModelLevels: map[string][]string{},
		Alerts:     AlertsConfig{At: []string{}, IntervalMs: 10_000},
		Tracking:   TrackingConfig{MaxTokens: TokenLimit{Auto: true}, Guidance: true},
		Reminder:   ReminderConfig{Enabled: true, ThresholdPercent: 70, AnthropicOnly: true, Rearm: "session"},
		Handoff:    HandoffConfig{Percent: 80},
		Compaction: CompactionConfig{MaxPaths: 20, MaxPathLength: 300, WordTokens: 400, CommandTokens: 250},
		Trim:       TrimConfig{ThresholdTokens: 200_000, TargetTokens: 180_000},
		Metrics:    MetricsConfig{WindowTasks: 1000, ThresholdTokens: 200_000, AlertRate: 0.10, AlertIntervalMs: 60_000},
		Usage:      UsageConfig{CountCacheWrites: true},
		Discovery:  DiscoveryConfig{Enabled: true},
		Store:      StoreConfig{MaxSessions: 1000},
		Log:        LogConfig{Level: "info"},
	}
}

// WorkspaceKeys are the settings that a workspace may make, as dotted prefixes. Anything else could make a cloned
// repository speak to the agent, move the state or silence ctxls. Windows are bounded further: see WorkspaceWindow.
var WorkspaceKeys = []string{"levels", "trim", "window"}

// Check returns what no bound on a single value can say about the settings, as a message by dotted key.
func (c Config) Check() map[string]string {
	wrong := map[string]string{}
	if len(c.Levels) != 3 || c.Levels[0] >= c.Levels[1] || c.Levels[1] >= c.Levels[2] {
		shown, _ := json.Marshal(c.Levels)
		wrong["levels"] = fmt.Sprintf("%s: want three rising percentages, like [50,70,85]", shown)
	}
	for _, pattern := range slices.Sorted(maps.Keys(c.ModelLevels)) {
		if problem := checkMarks(pattern, c.ModelLevels[pattern]); problem != "" {
			wrong["modelLevels"] = problem
		}
	}
	for _, at := range c.Alerts.At {
		if _, err := ParseTrigger(at); err != nil {
			wrong["alerts.at"] = err.Error()
		}
	}
	if dir := c.Tracking.GuardDir; dir != "" && !filepath.IsLocal(filepath.FromSlash(dir)) {
		wrong["tracking.guardDir"] = fmt.Sprintf("%q: want a relative path that stays inside the workspace", dir)
	}
	if c.Trim.TargetTokens > c.Trim.ThresholdTokens {
		wrong["trim.targetTokens"] = fmt.Sprintf("%d: want at most trim.thresholdTokens (%d)", c.Trim.TargetTokens, c.Trim.ThresholdTokens)
	}
	for key, path := range map[string]string{"store.path": c.Store.Path, "log.path": c.Log.Path} {
		if path != "" && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
			wrong[key] = fmt.Sprintf("%q: want an absolute path, or one that begins with ~/", path)
		}
	}
	for pattern := range c.Window.Overrides {
		if strings.TrimSpace(pattern) == "" {
			wrong["window.overrides"] = "an empty pattern: want a model id or a pattern with *"
		}
	}
	return wrong
}

// TokenLimit is a number of tokens, "auto" or nothing: in JSON a positive number, "auto", or null.
type TokenLimit struct {
	Auto   bool
	Tokens int // 0 without Auto: off
}

// Off reports whether there is no limit, which turns off what it is for.
func (t TokenLimit) Off() bool { return !t.Auto && t.Tokens == 0 }

// MarshalJSON writes the three forms.
func (t TokenLimit) MarshalJSON() ([]byte, error) {
	switch {
	case t.Auto:
		return []byte(`"auto"`), nil
	case t.Tokens == 0:
		return []byte("null"), nil
	}
	return json.Marshal(t.Tokens)
}

// UnmarshalJSON reads the three forms and refuses anything else.
func (t *TokenLimit) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "null":
		*t = TokenLimit{}
		return nil
	case `"auto"`:
		*t = TokenLimit{Auto: true}
		return nil
	}
	var n int
	if json.Unmarshal(data, &n) != nil || n <= 0 {
		return fmt.Errorf(`want "auto", a positive number of tokens, or null`)
	}
	*t = TokenLimit{Tokens: n}
	return nil
}
