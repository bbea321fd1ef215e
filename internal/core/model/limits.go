package model

// CompactionRule says where a host compacts, in tokens. The zero value means: when the window is full.
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
	// NativeAtLimit lifts the early point for models whose window is a million tokens by nature: the host lets them run full.
	NativeAtLimit bool
}

// Limits are a model's limits in tokens as its host states them; 0 means not stated.
type Limits struct {
	WindowTokens int `json:"windowTokens,omitempty"` // the whole context window
	InputTokens  int `json:"inputTokens,omitempty"`  // a separate limit on input, where the provider has one
	OutputTokens int `json:"outputTokens,omitempty"` // the longest answer
	// AutoCompactPercent and AutoCompactWindow are the user's own settings of where the host compacts (percent 1–100 and
	// tokens), AutoCompactOff says that it never does by itself.
	AutoCompactPercent int  `json:"autoCompactPercent,omitempty"`
	AutoCompactWindow  int  `json:"autoCompactWindow,omitempty"`
	AutoCompactOff     bool `json:"autoCompactOff,omitempty"`
	ReserveTokens      int  `json:"reserveTokens,omitempty"` // the user's own reserve below a separate input limit
}

// with returns the limits with those that are stated anew.
func (l Limits) With(stated Limits) Limits {
	for _, f := range []struct{ to, from *int }{
		{&l.WindowTokens, &stated.WindowTokens}, {&l.InputTokens, &stated.InputTokens}, {&l.OutputTokens, &stated.OutputTokens},
		{&l.AutoCompactPercent, &stated.AutoCompactPercent}, {&l.AutoCompactWindow, &stated.AutoCompactWindow}, {&l.ReserveTokens, &stated.ReserveTokens},
	} {
		if *f.from != 0 {
			*f.to = *f.from
		}
	}
	l.AutoCompactOff = l.AutoCompactOff || stated.AutoCompactOff
	return l
}
