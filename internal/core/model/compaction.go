package model

import "cmp"

// CompactionKind says whether a host compacts by itself.
type CompactionKind string

// The kinds.
const (
	CompactsAt        CompactionKind = "threshold" // at CompactionTokens
	CompactsOnRefusal CompactionKind = "onRefusal" // when the provider refuses a request as too long
	CompactsNever     CompactionKind = "off"       // the user turned it off
	CompactsUnknown   CompactionKind = "unknown"   // no source says it
)

// nearStandardPoint reports whether a host that compacted at an occupancy did so at the point of a standard window: from 155,000 to
// 167,000 tokens, plus what the last request added.
func nearStandardPoint(tokens int) bool {
	return tokens > standardWindow*3/4 && tokens <= standardWindow
}

// compaction sets where the host compacts.
func (w *Window) compaction(in Input, r CompactionRule) {
	w.RefusalTokens = w.Tokens
	if w.InputTokens > 0 && r.InputOutputCap > 0 {
		w.RefusalTokens = w.InputTokens
	}
	point, refusal := w.compactionPoint(in.Settings, r)
	seen := in.Learned.CompactedTokens
	switch {
	case r.isZero() || w.Provenance == WindowFromDefault && in.Settings.Point == 0:
		w.CompactionRule = CompactsUnknown
	case in.Settings.Off && refusal > 0:
		w.CompactionRule, w.RefusalTokens = CompactsNever, refusal
	case in.Settings.Off:
		w.CompactionRule = CompactsNever
	case w.onRefusal && r.onRefusal(in.Version) && w.setWindow(in.Settings) == 0:
		w.CompactionRule = CompactsOnRefusal
	default:
		w.CompactionRule, w.CompactionTokens = CompactsAt, point
	}
	if seen > 0 && w.Early(seen) {
		w.CompactionRule, w.CompactionTokens = CompactsAt, seen // whatever the settings say, since it was observed
	}
}

// Early reports whether the host compacted earlier than the window says. What the last request added can only make a compaction later.
// The difference between versions is within a tenth.
func (w Window) Early(tokens int) bool {
	if w.CompactionRule == CompactsAt {
		return tokens < w.CompactionTokens/5*4
	}
	return tokens < w.RefusalTokens/10*9
}

// setWindow returns the window that the user set for compaction, 0 for none.
func (w *Window) setWindow(s Settings) int {
	if n, ok := s.ModelWindows[w.model]; ok {
		return n
	}
	return s.Window
}

// compactionPoint returns the occupancy, in tokens, at which the host compacts by itself, and the occupancy at which it refuses a prompt
// if it does not; 0 means that it refuses none.
func (w *Window) compactionPoint(s Settings, r CompactionRule) (point, refusal int) {
	output := func(limit int) int {
		for _, most := range []int{w.OutputTokens, s.MaxOutput} {
			if most > 0 {
				limit = min(limit, most)
			}
		}
		return limit
	}
	if w.InputTokens > 0 && r.InputOutputCap > 0 {
		return max(w.InputTokens-cmp.Or(s.Reserve, output(r.InputOutputCap)), 0), 0
	}
	if r.RefusalBuffer > 0 {
		refusal = max(w.Tokens-output(r.OutputCap)-r.RefusalBuffer, 0)
	}
	window := w.Tokens
	if set := w.setWindow(s); set > 0 {
		window = min(window, set)
	}
	switch {
	case s.Share > 0:
		window = int(float64(window) * s.Share)
	case r.Denominator > 0:
		window = window * r.Numerator / r.Denominator
	}
	usable := window - output(r.OutputCap)
	point = usable - r.Buffer
	if percent := cmp.Or(s.Percent, r.Percent); percent > 0 {
		point = min(int(float64(usable)*percent/100), point)
	}
	if s.Point > 0 {
		point = min(s.Point, point)
	}
	return max(point, 0), refusal
}
