package model

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// WindowProvenance is the source of a window's size.
type WindowProvenance string

// In the order of precedence: the first known one counts.
const (
	WindowFromHost   WindowProvenance = "host"   // the host's own figure
	WindowFromConfig WindowProvenance = "config" // window.overrides
	// WindowFromWorkspace is a workspace's window.overrides or window.defaultTokens. It never changes a window that the host
	// stated, enlarges one that the user stated, or reduces one below what a request proved.
	WindowFromWorkspace WindowProvenance = "workspace"
	WindowFromSuffix    WindowProvenance = "suffix"  // [1m] on the model id
	WindowFromLearned   WindowProvenance = "learned" // from requests that the provider accepted or refused
	WindowFromTable     WindowProvenance = "table"   // the built-in table
	WindowFromDefault   WindowProvenance = "default" // unknown: window.defaultTokens
)

// Window is the number of tokens that a model accepts, and where its host compacts.
type Window struct {
	Tokens       int `json:"windowTokens"` // the whole window
	InputTokens  int `json:"inputTokens"`  // a separate limit on input; 0 is none
	OutputTokens int `json:"outputTokens"` // the longest answer; 0 is unknown
	// CompactionRule says whether the host compacts by itself. CompactionTokens is the occupancy at which it does, 0 unless the rule is
	// CompactsAt. Otherwise RefusalTokens is where a request is refused.
	CompactionRule   CompactionKind   `json:"compactionRule"`
	CompactionTokens int              `json:"compactionTokens"`
	RefusalTokens    int              `json:"refusalTokens"`
	Provenance       WindowProvenance `json:"provenance"` // of Tokens
	Why              string           `json:"why"`        // for people: what says so
	native           bool             // a million tokens by default, not by an option
	wild             bool             // the host does not know the model
	onRefusal        bool             // see WindowRow
	model            string
}

// Guessed reports whether the size of the model's window is unknown.
func (w Window) Guessed() bool {
	return w.Provenance == WindowFromDefault || w.wild && w.Provenance == WindowFromTable
}

// Known reports whether the table has the model by its own name.
func Known(name string) bool {
	w := lookUp("", "", "", Parse(name))
	return w.Tokens > 0 && !w.wild
}

// Million is the long window of Anthropic's models, in tokens.
const Million = 1_000_000

// windowLadder holds the window sizes that providers offer, in tokens. A request larger than the assumed window proves the
// next one (vendors' model pages, see windows.json).
var windowLadder = []int{128_000, 200_000, 272_000, 400_000, Million, 1_050_000, 2_000_000, 10_000_000}

// Learned is what was learned about a model's window from requests that its provider accepted and refused.
type Learned struct {
	AcceptedTokens int // the largest request known to have been accepted
	StatedTokens   int // the maximum that a refusal stated; 0 is none
	// CompactedTokens is where the host compacted by itself, if that was earlier than expected; 0 is none.
	CompactedTokens int
	Why             string // for people: what proved it
}

// standardWindow is the window, in tokens, of Anthropic's models without a long window, or without its option.
const standardWindow = 200_000

// Input is the input for resolving a window. Zero fields are unknown.
type Input struct {
	Host            string
	Version         string // of the host
	Provider, Model string
	Limits          Limits   // the host's own figures
	Settings        Settings // the user's, of the host
	Learned         Learned  // sizes that the provider accepted and refused before
}

// Resolve returns the window in force for a model under a host, the reason, and where the host compacts.
func Resolve(in Input, cfg settings.WindowConfig, compaction CompactionRule) Window {
	name := Parse(in.Model)
	provider := cmp.Or(name.Provider, in.Provider)
	w := lookUp(in.Host, in.Version, provider, name)
	known := w.Tokens > 0 && !w.wild
	if w.Tokens == 0 {
		w = Window{Tokens: cfg.DefaultTokens, Provenance: WindowFromDefault, Why: fmt.Sprintf("%s is not in the table: window.defaultTokens", orUnnamed(in.Model))}
	}
	set := func(tokens int, p WindowProvenance, why string) {
		if tokens != w.Tokens {
			w.native, w.InputTokens = false, 0
		}
		w.Tokens, w.Provenance, w.Why = tokens, p, why
	}
	override, pattern := matchOverride(cfg.Overrides, in.Model, name.Plain)
	learned := in.Learned
	switch {
	case in.Limits.WindowTokens > 0:
		set(in.Limits.WindowTokens, WindowFromHost, "the host says so")
	case override > 0:
		set(override, WindowFromConfig, fmt.Sprintf("window.overrides has %q", pattern))
	case in.Settings.MaxContext > 0 && (!known || in.Settings.NeverCompacts):
		set(in.Settings.MaxContext, WindowFromHost, "the host's settings say so")
	case name.Million:
		if w.Tokens < Million {
			set(Million, WindowFromSuffix, "the model id carries [1m]")
		}
	case learned.StatedTokens > 0 && learned.StatedTokens >= learned.AcceptedTokens && learned.StatedTokens != w.Tokens:
		set(learned.StatedTokens, WindowFromLearned, learned.Why)
	case learned.AcceptedTokens > w.Tokens:
		set(stepUp(learned.AcceptedTokens, provider, name), WindowFromLearned, learned.Why)
	case w.wild && nearStandardPoint(learned.CompactedTokens):
		set(standardWindow, WindowFromLearned, learned.Why)
	}
	if tokens, why := workspaceWindow(cfg, in.Model, name.Plain, w, learned); tokens > 0 {
		set(tokens, WindowFromWorkspace, why)
	}
	if most := in.Settings.MaxWindow; most > 0 && w.Tokens > most {
		set(most, WindowFromHost, "the host's settings allow no more")
	}
	if in.Limits.InputTokens > 0 {
		w.InputTokens = in.Limits.InputTokens
	}
	if in.Limits.OutputTokens > 0 {
		w.OutputTokens = in.Limits.OutputTokens
	}
	w.model = name.Plain
	long := !w.native && w.Tokens >= Million && (known || name.Million)
	w.onRefusal = w.onRefusal && known || long || !known && in.Settings.UnknownOnRefusal
	w.compaction(in, compaction.of(in.Version))
	return w
}

// workspaceWindow returns the window that a workspace's settings give a model, and the reason; 0 if there is none, or it is not allowed.
// A cloned repository must not be able to hide how full a window is.
func workspaceWindow(cfg settings.WindowConfig, model, plain string, w Window, learned Learned) (tokens int, why string) {
	tokens, pattern := matchOverride(cfg.Workspace.Overrides, model, plain)
	why = fmt.Sprintf("%s: window.overrides has %q", cfg.Workspace.Source, pattern)
	if tokens == 0 && w.Provenance == WindowFromDefault {
		tokens, why = cfg.Workspace.DefaultTokens, cfg.Workspace.Source+": window.defaultTokens"
	}
	byUser := w.Provenance == WindowFromConfig || w.Provenance == WindowFromDefault && cfg.DefaultTokens != settings.Default().Window.DefaultTokens
	if w.Provenance == WindowFromHost || byUser && tokens > w.Tokens || tokens < learned.AcceptedTokens || !HasWindow(tokens) {
		return 0, ""
	}
	return tokens, why
}

// HasWindow reports whether some model has a window of that size.
func HasWindow(tokens int) bool {
	return slices.Contains(windowLadder, tokens) || slices.ContainsFunc(windowTable, func(r WindowRow) bool { return r.WindowTokens == tokens })
}

// stepUp returns the smallest offered window that holds tokens.
func stepUp(tokens int, provider string, name Name) int {
	if w := lookUp("", "", provider, name); w.Tokens >= tokens {
		return w.Tokens
	}
	if strings.HasPrefix(name.Plain, "claude-") && tokens <= Million {
		return Million
	}
	for _, step := range windowLadder {
		if step >= tokens {
			return step
		}
	}
	return tokens
}

// Name is a parsed model ID.
type Name struct {
	Plain    string // lower case, without provider, region, date, version and options: "claude-opus-4-6", "gpt-5.4"
	Provider string // where the spelling itself names one: "amazon-bedrock", "google-vertex"; "" otherwise
	Million  bool   // carries "[1m]"
}

// Parse understands the spellings of hosts, gateways and clouds: "anthropic/claude-opus-4.6",
// "us.anthropic.claude-opus-4-6-20260115-v1:0", "claude-sonnet-4-5@20250929", "models/gemini-2.5-pro", "claude-opus-4-6[1m]".
func Parse(model string) Name {
	var n Name
	s := strings.ToLower(strings.TrimSpace(model))
	for strings.HasSuffix(s, "[1m]") {
		n.Million = true
		s = strings.TrimSpace(strings.TrimSuffix(s, "[1m]"))
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 { // gateways, "models/…", inference profile ARNs
		if strings.HasPrefix(s, "arn:aws:bedrock") || strings.HasPrefix(s, "bedrock/") {
			n.Provider = "amazon-bedrock"
		} else if strings.HasPrefix(s, "vertex") {
			n.Provider = "google-vertex"
		}
		s = s[i+1:]
	}
	if i := strings.Index(s, "anthropic."); i >= 0 { // Bedrock, with or without a region before it
		n.Provider = "amazon-bedrock"
		s = s[i+len("anthropic."):]
	}
	if i := strings.IndexByte(s, '@'); i >= 0 { // Vertex puts the date there
		n.Provider = "google-vertex"
		s = s[:i]
	}
	if i := strings.IndexByte(s, ':'); i >= 0 { // Bedrock's "-v1:0", gateways' ":free"
		s = s[:i]
	}
	if i := strings.LastIndex(s, "-v"); i > 0 && text.IsDigits(s[i+2:]) {
		s = s[:i]
	}
	s = strings.TrimSuffix(cutDate(s), "-latest")
	if strings.HasPrefix(s, "claude-") {
		s = strings.ReplaceAll(s, ".", "-") // Copilot writes 4.6
	}
	n.Plain = s
	return n
}

// Plain returns the plain name of a model. Learned windows are stored under it.
func Plain(model string) string { return Parse(model).Plain }

// cutDate removes a release date at the end: "-20250929" or "-2024-08-06".
func cutDate(s string) string {
	if i := len(s) - len("-20060102"); i > 0 && s[i] == '-' && text.IsDigits(s[i+1:]) {
		return s[:i]
	}
	if i := len(s) - len("-2006-01-02"); i > 0 && s[i] == '-' && s[i+5] == '-' && s[i+8] == '-' &&
		text.IsDigits(s[i+1:i+5]) && text.IsDigits(s[i+6:i+8]) && text.IsDigits(s[i+9:]) {
		return s[:i]
	}
	return s
}

// Matching returns the value of the most specific pattern that matches a model. ok is false if there is none.
func Matching[V any](patterns map[string]V, model string) (value V, ok bool) {
	value, pattern := matchOverride(patterns, model, Plain(model))
	return value, pattern != ""
}

// matchOverride returns the value of the most specific pattern that matches the model as given or by its plain name.
func matchOverride[V any](patterns map[string]V, model, plain string) (value V, pattern string) {
	model = strings.ToLower(model)
	for p, v := range patterns {
		lower := strings.ToLower(p)
		if !globMatch(lower, model) && !globMatch(lower, plain) {
			continue
		}
		if len(p) > len(pattern) || len(p) == len(pattern) && p < pattern {
			value, pattern = v, p
		}
	}
	return value, pattern
}

// globMatch matches s against a pattern in which * is any text, including slashes.
func globMatch(pattern, s string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		part, more, starred := strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], more
	}
}

// WindowRow is one row of the built-in table. An empty Host or Provider matches any. Model is a plain name. It also matches longer names
// that continue with "-"; with * at the end, it matches any longer name. With ! at the beginning, it matches all other names.
type WindowRow struct {
	Host         string `json:"host,omitempty"`
	Provider     string `json:"provider,omitempty"`
	Model        string `json:"model"`
	WindowTokens int    `json:"windowTokens"`
	InputTokens  int    `json:"inputTokens,omitempty"`
	OutputTokens int    `json:"outputTokens,omitempty"`
	Native       bool   `json:"native,omitempty"`    // a million tokens by nature
	OnRefusal    bool   `json:"onRefusal,omitempty"` // Claude Code compacts it only when a request is refused, see CompactionRule
	UpTo         string `json:"upTo,omitempty"`      // the newest version of the host for which the row holds
	Source       string `json:"source"`
}

//go:generate go run ../../tools/windows

// WindowTable returns the built-in table, windows.json. The caller must not change it.
func WindowTable() []WindowRow { return windowTable }

// LargestWindow returns the largest window in the table, in tokens.
func LargestWindow() (largest int) {
	for _, row := range windowTable {
		largest = max(largest, row.WindowTokens)
	}
	return largest
}

// IsOverridden reports whether one of the patterns matches a model.
func IsOverridden(overrides map[string]int, model string) bool {
	_, pattern := matchOverride(overrides, model, Plain(model))
	return pattern != ""
}

// lookUp returns the table's window for a model: the row that matches host and provider best, then the longest name. A zero Window means
// that no row matches.
func lookUp(host, version, provider string, name Name) Window {
	if name.Plain == "" { // no row is about an unnamed model
		return Window{}
	}
	var best WindowRow
	score := -1
	for _, row := range windowTable {
		if row.Host != "" && row.Host != host || row.Provider != "" && row.Provider != provider || !rowCovers(row.Model, name.Plain) {
			continue
		}
		if row.UpTo != "" && (version == "" || compareVersions(version, row.UpTo) > 0) {
			continue
		}
		s := len(row.Model)
		if row.Model == "*" {
			s = 0
		} else if row.Host != "" {
			s += 1000
		}
		if row.Provider != "" {
			s += 2000
		}
		if row.UpTo != "" {
			s += 500
		}
		if s > score {
			best, score = row, s
		}
	}
	if score < 0 {
		return Window{}
	}
	if best.Model == "*" && best.UpTo != "" { // an older host may not know the model; with the same window, it makes no difference
		if named := lookUp(host, "", provider, name); named.Tokens == best.WindowTokens && !named.wild {
			return named
		}
	}
	scope := best.Model
	if best.Provider != "" {
		scope = path.Join(best.Provider, scope)
	}
	if best.Host != "" {
		scope += " in " + best.Host
	}
	wild := best.Model == "*" || best.Model[0] == '!'
	why := fmt.Sprintf("table: %s (%s)", scope, best.Source)
	if wild {
		why = fmt.Sprintf("%s is not in the table: %s", text.Sanitize(name.Plain, text.MaxLabel), best.Source)
	}
	return Window{Tokens: best.WindowTokens, InputTokens: best.InputTokens, OutputTokens: best.OutputTokens,
		Provenance: WindowFromTable, Why: why, native: best.Native, wild: wild, onRefusal: best.OnRefusal}
}

func rowCovers(row, plain string) bool {
	if others, ok := strings.CutPrefix(row, "!"); ok {
		return plain != "" && !rowCovers(others, plain)
	}
	if prefix, ok := strings.CutSuffix(row, "*"); ok {
		return strings.HasPrefix(plain, prefix)
	}
	return plain == row || strings.HasPrefix(plain, row+"-")
}

func orUnnamed(model string) string {
	if model == "" {
		return "an unnamed model"
	}
	return text.Sanitize(model, text.MaxLabel)
}
