package model

import (
	"fmt"
	"path"
	"strings"

	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// WindowProvenance says why a window is taken to be as large as it is.
type WindowProvenance string

// In the order in which they are asked: the first that knows wins.
const (
	WindowFromHost    WindowProvenance = "host"    // the host's own figure
	WindowFromConfig  WindowProvenance = "config"  // window.overrides
	WindowFromSuffix  WindowProvenance = "suffix"  // [1m] on the model id
	WindowFromLearned WindowProvenance = "learned" // what the provider accepted or refused
	WindowFromTable   WindowProvenance = "table"   // the built-in table
	WindowFromDefault WindowProvenance = "default" // nobody knows: window.defaultTokens
)

// Window is how many tokens a model accepts, and where its host compacts.
type Window struct {
	Tokens           int              `json:"windowTokens"`     // the whole window
	InputTokens      int              `json:"inputTokens"`      // a separate limit on input; 0 is none
	OutputTokens     int              `json:"outputTokens"`     // the longest answer; 0 is unknown
	CompactionTokens int              `json:"compactionTokens"` // occupancy at which the host compacts; 0 when it never does by itself
	Provenance       WindowProvenance `json:"provenance"`       // of Tokens
	Why              string           `json:"why"`              // for people: what says so
	native           bool             // a million tokens by nature, not by an option
}

// million is the long window that Anthropic's models have, in tokens.
const Million = 1_000_000

// windowLadder holds the window sizes that providers offer, in tokens. A request larger than the assumed window proves the
// next one (vendors' model pages, see windows.json).
var windowLadder = []int{128_000, 200_000, 272_000, 400_000, Million, 1_050_000, 2_000_000, 10_000_000}

// Learned is what was learned about a model's window from what its provider accepted and refused.
type Learned struct {
	AcceptedTokens int    // the largest request known to have been accepted
	StatedTokens   int    // the maximum that a refusal stated; 0 is none
	Why            string // for people: what proved it
}

// ResolveWindow returns the window in force for a model under a host, and why. limits are the host's own figures, learned
// what its provider accepted and refused before.
func Resolve(host, provider, model string, limits Limits, learned Learned, cfg settings.WindowConfig, compaction CompactionRule) Window {
	name := Parse(model)
	if name.Provider != "" {
		provider = name.Provider
	}
	w := lookUp(host, provider, name)
	if w.Tokens == 0 {
		w = Window{Tokens: cfg.DefaultTokens, Provenance: WindowFromDefault, Why: fmt.Sprintf("%s is not in the table: window.defaultTokens", orUnnamed(model))}
	}
	set := func(tokens int, p WindowProvenance, why string) {
		if tokens != w.Tokens {
			w.native, w.InputTokens = false, 0
		}
		w.Tokens, w.Provenance, w.Why = tokens, p, why
	}
	override, pattern := matchOverride(cfg.Overrides, model, name.Plain)
	switch {
	case limits.WindowTokens > 0:
		set(limits.WindowTokens, WindowFromHost, "the host says so")
	case override > 0:
		set(override, WindowFromConfig, fmt.Sprintf("window.overrides has %q", pattern))
	case name.Million:
		set(Million, WindowFromSuffix, "the model id carries [1m]")
	case learned.StatedTokens > 0 && learned.StatedTokens >= learned.AcceptedTokens && learned.StatedTokens != w.Tokens:
		set(learned.StatedTokens, WindowFromLearned, learned.Why)
	case learned.AcceptedTokens > w.Tokens:
		set(stepUp(learned.AcceptedTokens, provider, name), WindowFromLearned, learned.Why)
	}
	if limits.InputTokens > 0 {
		w.InputTokens = limits.InputTokens
	}
	if limits.OutputTokens > 0 {
		w.OutputTokens = limits.OutputTokens
	}
	w.CompactionTokens = compactionPoint(w, limits, compaction)
	return w
}

// stepUp returns the smallest window on offer that holds tokens.
func stepUp(tokens int, provider string, name Name) int {
	if w := lookUp("", provider, name); w.Tokens >= tokens {
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

// compactionPoint returns the occupancy in tokens at which the host compacts; 0 is never.
func compactionPoint(w Window, l Limits, r CompactionRule) int {
	if l.AutoCompactOff {
		return 0
	}
	output := func(limit int) int {
		if w.OutputTokens > 0 {
			return min(w.OutputTokens, limit)
		}
		return limit
	}
	if w.InputTokens > 0 && r.InputOutputCap > 0 {
		reserve := output(r.InputOutputCap)
		if l.ReserveTokens > 0 {
			reserve = l.ReserveTokens
		}
		return max(w.InputTokens-reserve, 0)
	}
	window := w.Tokens
	userSet := l.AutoCompactWindow > 0 || l.AutoCompactPercent > 0
	if l.AutoCompactWindow > 0 {
		window = min(window, l.AutoCompactWindow)
	}
	if r.NativeAtLimit && w.native && !userSet {
		return window
	}
	if r.Denominator > 0 {
		window = window * r.Numerator / r.Denominator
	}
	usable := window - output(r.OutputCap)
	point := usable - r.Buffer
	if l.AutoCompactPercent > 0 {
		point = min(usable*l.AutoCompactPercent/100, point)
	}
	return max(point, 0)
}

// ModelName is a model id taken apart.
type Name struct {
	Plain    string // lower case, without provider, region, date, version and options: "claude-opus-4-6", "gpt-5.4"
	Provider string // where the spelling itself names one: "amazon-bedrock", "google-vertex"; "" otherwise
	Million  bool   // carries "[1m]"
}

// ParseModel understands the spellings that hosts, gateways and clouds use for a model: "anthropic/claude-opus-4.6",
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

// PlainModel returns the plain spelling of a model, under which learned windows are kept.
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

// matchOverride returns the tokens of the most specific pattern that matches the model as given or in its plain spelling.
func matchOverride(overrides map[string]int, model, plain string) (tokens int, pattern string) {
	model = strings.ToLower(model)
	for p, n := range overrides {
		lower := strings.ToLower(p)
		if !globMatch(lower, model) && !globMatch(lower, plain) {
			continue
		}
		if len(p) > len(pattern) || len(p) == len(pattern) && p < pattern {
			tokens, pattern = n, p
		}
	}
	return tokens, pattern
}

// globMatch matches s against a pattern in which * stands for anything, slashes too.
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

// WindowRow is one row of the built-in table. Host and Provider "" stand for any. Model is a plain spelling; it also
// covers longer names that go on with "-", and ends in * to cover any that go on at all.
type WindowRow struct {
	Host         string `json:"host,omitempty"`
	Provider     string `json:"provider,omitempty"`
	Model        string `json:"model"`
	WindowTokens int    `json:"windowTokens"`
	InputTokens  int    `json:"inputTokens,omitempty"`
	OutputTokens int    `json:"outputTokens,omitempty"`
	Native       bool   `json:"native,omitempty"` // a million tokens by nature
	Source       string `json:"source"`
}

//go:generate go run ../../tools/windows

// WindowTable returns the built-in table of windows, which is windows.json. The caller must not change it.
func WindowTable() []WindowRow { return windowTable }

// lookUp returns the table's window for a model: the row that fits host and provider best, then the longest name. A zero
// Window means that no row fits.
func lookUp(host, provider string, name Name) Window {
	if name.Plain == "" { // no row is about a model of which nobody says which it is
		return Window{}
	}
	var best WindowRow
	score := -1
	for _, row := range windowTable {
		if row.Host != "" && row.Host != host || row.Provider != "" && row.Provider != provider || !rowCovers(row.Model, name.Plain) {
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
		if s > score {
			best, score = row, s
		}
	}
	if score < 0 {
		return Window{}
	}
	scope := best.Model
	if best.Provider != "" {
		scope = path.Join(best.Provider, scope)
	}
	if best.Host != "" {
		scope += " in " + best.Host
	}
	return Window{Tokens: best.WindowTokens, InputTokens: best.InputTokens, OutputTokens: best.OutputTokens,
		Provenance: WindowFromTable, Why: fmt.Sprintf("table: %s (%s)", scope, best.Source), native: best.Native}
}

func rowCovers(row, plain string) bool {
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
