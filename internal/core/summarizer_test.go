package core

import (
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// The summarizer gets the files in use, unless the host would discard a summary because of them, and unless a setting
// decides otherwise.
func TestTellSummarizer(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		name   string
		ahead  bool // the host summarizes ahead
		chosen *bool
		asked  bool // the caller asks for the working context
		want   bool
	}{
		{"by default", false, nil, false, true},
		{"a host that summarizes ahead", true, nil, false, false},
		{"a host that summarizes ahead, turned on", true, &yes, false, true},
		{"turned off", false, &no, false, false},
		{"turned off, but asked for", false, &no, true, true},
		{"a host that summarizes ahead, but asks", true, nil, true, true},
	} {
		w := newTestEnv()
		w.rules[session.HostClaudeCode] = session.Rules{SummaryVisible: true, SummarizesAhead: tt.ahead}
		w.cfg.Compaction.TellSummarizer = tt.chosen
		w.play(t, session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/a.go", Use: session.Read}}})
		out := w.play(t, session.Event{Kind: session.CompactionOpened, Asked: tt.asked})
		if told := len(out.Effects) > 0; told != tt.want {
			t.Errorf("%s: told is %v, want %v", tt.name, told, tt.want)
		}
		out = w.play(t, session.Event{Kind: session.CompactionDone, Accepts: []session.EffectKind{}, CompactedBy: &session.Boundary{Summary: "nothing"}})
		if len(out.Lost) != 1 {
			t.Errorf("%s: lost %v, want the file in use", tt.name, out.Lost)
		}
	}
}
