package model

import (
	"cmp"
	"strconv"
	"strings"
)

// Limits are a model's limits in tokens as its host states them; 0 is not stated.
type Limits struct {
	WindowTokens int `json:"windowTokens,omitempty"` // the whole context window
	InputTokens  int `json:"inputTokens,omitempty"`  // a separate limit on input, if the provider has one
	OutputTokens int `json:"outputTokens,omitempty"` // the longest answer
}

// Settings are the user's settings of where a host compacts, as its adapter read them. The zero value is the host's default.
type Settings struct {
	Off              bool           `json:"off,omitempty"`              // it never compacts by itself
	NeverCompacts    bool           `json:"neverCompacts,omitempty"`    // not even on request; MaxContext then holds for every model
	UnknownOnRefusal bool           `json:"unknownOnRefusal,omitempty"` // with an unknown model, the host waits until a request is refused
	Window           int            `json:"window,omitempty"`           // tokens; replaces the window if that is larger
	ModelWindows     map[string]int `json:"modelWindows,omitempty"`     // the same by plain model, before Window; 0 is none for that model
	Percent          float64        `json:"percent,omitempty"`          // share of the usable tokens at which it compacts, if that is earlier
	Share            float64        `json:"share,omitempty"`            // share of the window at which it compacts, 0–1
	Point            int            `json:"point,omitempty"`            // tokens at which it compacts, if that is earlier
	Reserve          int            `json:"reserve,omitempty"`          // tokens below a separate limit on input
	MaxOutput        int            `json:"maxOutput,omitempty"`        // the longest answer that it requests, in tokens
	MaxContext       int            `json:"maxContext,omitempty"`       // the window of a model that it does not know, in tokens
	MaxWindow        int            `json:"maxWindow,omitempty"`        // the upper bound of windows, in tokens
	TrueCount        bool           `json:"trueCount,omitempty"`        // the number of tokens left that the host tells its model agrees with the window, or there is none
}

// With returns the limits, with the newly stated ones replaced.
func (l Limits) With(stated Limits) Limits {
	for _, f := range []struct{ to, from *int }{
		{&l.WindowTokens, &stated.WindowTokens}, {&l.InputTokens, &stated.InputTokens}, {&l.OutputTokens, &stated.OutputTokens},
	} {
		if *f.from != 0 {
			*f.to = *f.from
		}
	}
	return l
}

// CompactionRule says where a host compacts, in tokens. The zero value is unknown.
//
//	with a separate input limit   input − min(output, InputOutputCap)
//	otherwise                     window × Numerator / Denominator − min(output, OutputCap) − Buffer
//
// where output is the model's maximum output, taken as the cap where it is unknown.
type CompactionRule struct {
	OutputCap      int
	Buffer         int
	InputOutputCap int
	Numerator      int // 0 stands for 1
	Denominator    int // 0 stands for 1
	// Percent is the share of what is usable at which the host compacts if that is earlier, unless the user's settings say another; 0
	// is none.
	Percent float64
	// RefusalBuffer is how far before the reserve for the answer the host refuses a prompt where compaction is turned off.
	RefusalBuffer int
	// OnRefusalSince is the first version that compacts the models marked in the table only when a request is refused, and that takes
	// unknown models for a million tokens; "" is none.
	OnRefusalSince string
	Older          []OlderBuffer // of older versions, oldest first
}

// OlderBuffer is the Buffer of versions up to UpTo.
type OlderBuffer struct {
	UpTo   string
	Buffer int
}

// isZero reports whether the rule is unknown.
func (r CompactionRule) isZero() bool {
	return r.OutputCap == 0 && r.Buffer == 0 && r.InputOutputCap == 0 && r.Denominator == 0
}

// of returns the rule of a version of the host; "" is the newest.
func (r CompactionRule) of(version string) CompactionRule {
	for _, older := range r.Older {
		if version != "" && compareVersions(version, older.UpTo) <= 0 {
			r.Buffer = older.Buffer
			break
		}
	}
	return r
}

// onRefusal reports whether a version of the host waits until a request is refused, for the models marked so.
func (r CompactionRule) onRefusal(version string) bool {
	return r.OnRefusalSince != "" && (version == "" || compareVersions(version, r.OnRefusalSince) >= 0)
}

// compareVersions compares dotted numbers; a part that is no number counts as 0.
func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		number := func(parts []string) int {
			if i >= len(parts) {
				return 0
			}
			n, _ := strconv.Atoi(parts[i])
			return n
		}
		if c := cmp.Compare(number(x), number(y)); c != 0 {
			return c
		}
	}
	return 0
}
