package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// file is a growing transcript, in which each line takes a byte.
type file struct {
	w       *testEnv
	entries []session.Entry
}

// answers adds the lines of one response with the given input tokens, one line for each piece. output is the output
// count in the last line, 0 if the host does not report it.
func (f *file) answers(id string, input, output int, pieces ...session.Piece) {
	f.w.now = f.w.now.Add(time.Second)
	for i, p := range pieces {
		rep := &session.Report{At: f.w.now, Tuple: session.UsageTuple{Input: 3, CacheRead: input - 3}, Tokens: input, Provenance: session.ProvenanceTranscript, Model: "claude-opus-4-6", MessageID: id}
		if i == len(pieces)-1 {
			rep.Tuple.Output = output
		}
		f.entries = append(f.entries, session.Entry{Offset: int64(len(f.entries)), At: f.w.now, Report: rep, Content: []session.Piece{p}})
	}
}

// adds adds a line of content.
func (f *file) adds(pieces ...session.Piece) {
	f.entries = append(f.entries, session.Entry{Offset: int64(len(f.entries)), At: f.w.now, Content: pieces})
}

// read returns an event with a reading of the lines from one to another.
func (f *file) read(from, to int) session.Event {
	entries := make([]session.Entry, to-from)
	for i, e := range f.entries[from:to] {
		e.Content = append([]session.Piece(nil), e.Content...)
		entries[i] = e
	}
	return session.Event{Kind: session.BatchFinished, Reading: &session.Reading{From: int64(from), Cursor: session.Cursor{Device: 1, Inode: 1, Offset: int64(to)}, Entries: entries}}
}

func (f *file) rest() session.Event {
	return f.read(int(f.w.session().Cursor.Offset), len(f.entries))
}

// wordsOf returns a text of that many tokens under the counter of these tests.
func wordsOf(tokens int) string { return string(make([]byte, (tokens*7+1)/2)) }

// newCountingEnv returns a testEnv whose counter counts 2 tokens for every 7 bytes.
func newCountingEnv() *testEnv {
	w := newTestEnv()
	w.counter = byLength{}
	return w
}

type byLength struct{}

func (byLength) Count(text string) int { return len(text) * 2 / 7 }

// Content after the last response is estimated separately. The reported figure stays, with a range that is wider
// upwards. The next response shows the real size, and calibrates the model.
func TestReportedAndProjected(t *testing.T) {
	w := newCountingEnv()
	f := &file{w: w}
	f.answers("m1", 100_000, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(100)}, session.Piece{Class: session.ToolCall, Tool: "Read", CallID: "c1", Text: wordsOf(50)})
	f.adds(session.Piece{Class: session.ToolResult, CallID: "c1", Text: wordsOf(2000)})
	u := w.play(t, f.rest()).Session.Usage
	// 118 said, 55 + 57 called, 30 + 2200 read
	if *u.Tokens != 100_000 || *u.ProjectedTokens != 102_460 || *u.Provenance != session.ProvenanceTranscript || !u.Exact || *u.Percent != 50 {
		t.Errorf("%d tokens, %d projected, by %s", *u.Tokens, *u.ProjectedTokens, *u.Provenance)
	}
	if diff := cmp.Diff(&session.Band{Low: 102_460 - 271, High: 102_460 + 271 + 225}, u.Band); diff != "" {
		t.Errorf("range (-want +got):\n%s", diff)
	}

	f.answers("m2", 103_500, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(100)})
	u = w.play(t, f.rest()).Session.Usage
	if *u.Tokens != 103_500 || *u.ProjectedTokens != 103_618 {
		t.Errorf("%d tokens, %d projected", *u.Tokens, *u.ProjectedTokens)
	}
	c := w.taught[[2]string{"claude-opus-4-6", session.Encoding}]
	if diff := cmp.Diff([]session.Factor{{Value: (3500.0 - 55 - 30) / (118 + 57 + 2200), Weight: 1.2}}, c.Factors, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("factors (-want +got):\n%s", diff)
	}
	for n := range 4 { // each implies a k of 3270 / 2318
		f.adds(session.Piece{Class: session.ToolResult, Tool: "Read", Text: wordsOf(2000)})
		f.answers(fmt.Sprint("n", n), 106_800+3_300*n, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(100)})
	}
	w.play(t, f.rest())
	other := f.read(0, 1)
	other.SessionID = "other"
	if got := *w.play(t, other).Session.Usage.ProjectedTokens; got != 100_166 {
		t.Errorf("another session of the model knows nothing of it: %d projected", got)
	}
}

// A response is written as several lines with the same figures. It is one report, and its length counts once.
func TestLinesOfOneAnswer(t *testing.T) {
	w := newCountingEnv()
	f := &file{w: w}
	f.answers("m1", 50_000, 700, session.Piece{Class: session.Thought, Bytes: 1150}, session.Piece{Class: session.AnswerText, Text: wordsOf(100)}, session.Piece{Class: session.ToolCall, Tool: "Bash", CallID: "c1", Text: wordsOf(100)})
	f.adds(session.Piece{Class: session.ToolResult, CallID: "c1", Text: wordsOf(100)})
	for n, want := range []int{50_205, 50_323, 50_700, 50_830} {
		if got := *w.play(t, f.read(n, n+1)).Session.Usage.ProjectedTokens; got != want {
			t.Errorf("after line %d: %d, want %d", n+1, got, want)
		}
	}
	if n := len(w.samples[session.Key{Host: session.HostClaudeCode, SessionID: "s"}]); n != 1 {
		t.Errorf("%d samples", n)
	}
}

// Content from before a compaction is not estimated after it. The difference across a compaction teaches nothing.
func TestNothingIsEstimatedAcrossACompaction(t *testing.T) {
	w := newCountingEnv()
	f := &file{w: w}
	f.answers("m1", 150_000, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(2000)})
	w.play(t, f.rest(), session.Event{Kind: session.CompactionOpened})
	u := w.play(t, session.Event{Kind: session.CompactionDone}).Session.Usage
	if *u.Tokens != 48_000 || *u.ProjectedTokens != 48_000 || u.Band == nil || u.Exact {
		t.Errorf("%d tokens, %d projected, %v", *u.Tokens, *u.ProjectedTokens, u.Band)
	}
	f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(1000)})
	if u = w.play(t, f.rest()).Session.Usage; *u.Tokens != 49_180 || *u.ProjectedTokens != 49_180 {
		t.Errorf("with a prompt: %d tokens, %d projected", *u.Tokens, *u.ProjectedTokens)
	}
	f.answers("m2", 151_300, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(10)})
	u = w.play(t, f.rest()).Session.Usage
	if *u.Tokens != 151_300 || len(w.taught) != 0 {
		t.Errorf("%d tokens; learned %v", *u.Tokens, w.taught)
	}
	f.w.now = f.w.now.Add(time.Second)
	f.entries = append(f.entries, session.Entry{Offset: int64(len(f.entries)), Boundary: &session.Boundary{ID: "micro", At: f.w.now, Micro: true}})
	f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(1000)})
	if u = w.play(t, f.rest()).Session.Usage; u.Tokens != nil || u.ProjectedTokens != nil || u.Band != nil {
		t.Errorf("old results were cleared: %+v", u)
	}
	f.answers("m3", 90_000, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(10)})
	if w.play(t, f.rest()); len(w.taught) != 0 {
		t.Errorf("learned across it: %v", w.taught)
	}
}

// Unread content cannot be estimated, and only a model's own responses calibrate it.
func TestWhatIsNotLearnedFrom(t *testing.T) {
	for name, between := range map[string]func(*file){
		"a gap": func(f *file) {
			f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(1000)})
			f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(1000)})
			f.w.play(t, f.read(2, 3)) // no reading had the line before
		},
		"an answer whose beginning was not read": func(f *file) {
			f.answers("m2", 101_500, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(100)}, session.Piece{Class: session.AnswerText, Text: wordsOf(1500)})
			f.w.play(t, f.read(2, 3))
		},
		"another model": func(f *file) {
			f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(2000)})
			f.answers("m2", 102_500, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(1000)})
			f.entries[2].Report.Model = "claude-sonnet-4-5"
		},
		"a file that was rewritten": func(f *file) {
			f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(1000)})
			ev := f.rest()
			ev.Reading.Restarted = true
			f.w.play(t, ev)
		},
	} {
		w := newCountingEnv()
		f := &file{w: w}
		f.answers("m1", 100_000, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(1000)})
		w.play(t, f.rest())
		between(f)
		f.answers("m9", 103_600, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(10)})
		if w.play(t, f.rest()); len(w.taught) != 0 {
			t.Errorf("%s: learned %v", name, w.taught)
		}
	}
}

// Thoughts add up over the responses of a turn, until the user's next prompt. Then some hosts stop sending them.
func TestThoughtsOfATurn(t *testing.T) {
	w := newCountingEnv()
	f := &file{w: w}
	thought, result := session.Piece{Class: session.Thought, Bytes: 2150}, session.Piece{Class: session.ToolResult, Tool: "Read"} // 410 and 30
	for n, want := range []int{20_440, 20_880, 21_320} {
		f.answers(fmt.Sprint("m", n), 20_000+440*n, 0, thought)
		f.adds(result)
		for i := range f.entries {
			if rep := f.entries[i].Report; rep != nil {
				rep.Model = "claude-sonnet-4-5"
			}
		}
		if got := *w.play(t, f.rest()).Session.Usage.ProjectedTokens; got != want {
			t.Errorf("response %d: %d projected, want %d", n, got, want)
		}
	}
	f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(100)})
	if got, want := *w.play(t, f.rest()).Session.Usage.ProjectedTokens, 21_320-3*410+118; got != want {
		t.Errorf("after a prompt: %d projected, want %d", got, want)
	}
	f.answers("next", 20_208, 0, thought)
	f.entries[len(f.entries)-1].Report.Model = "claude-sonnet-4-5"
	f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(100)})
	if got, want := *w.play(t, f.rest()).Session.Usage.ProjectedTokens, 20_208+118; got != want {
		t.Errorf("the turn after: %d projected, want %d", got, want)
	}
	if c := w.taught[[2]string{"claude-sonnet-4-5", session.Encoding}]; c.Forgot != 1 || c.Kept != 0 || len(c.Factors) > 0 {
		t.Errorf("learned %+v", c)
	}
}

// A status line is ahead of the read content: only its own answer was added since.
func TestStatusLineProjects(t *testing.T) {
	w := newCountingEnv()
	f := &file{w: w}
	f.answers("m1", 100_000, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(1000)}, session.Piece{Class: session.AnswerText, Text: wordsOf(10)})
	w.play(t, f.read(0, 1))
	line := session.Report{Tuple: session.UsageTuple{Input: 5, CacheRead: 119_995, Output: 800}, Tokens: 120_000, Provenance: session.ProvenanceHost}
	u := w.play(t, session.Event{Kind: session.UsageReported, Reports: []session.Report{line}}).Session.Usage
	if *u.Tokens != 120_000 || *u.ProjectedTokens != 120_800 || u.Band == nil {
		t.Errorf("%d tokens, %d projected, %v", *u.Tokens, *u.ProjectedTokens, u.Band)
	}
	if u = w.play(t, f.read(1, 2)).Session.Usage; *u.Tokens != 120_000 || *u.ProjectedTokens != 120_800 {
		t.Errorf("one more line of the response before: %d tokens, %d projected", *u.Tokens, *u.ProjectedTokens)
	}
}

// If the host's figure includes the answer, the answer is not added again.
func TestHostsThatCountTheAnswer(t *testing.T) {
	no := false
	for _, tt := range []struct {
		countOutput       *bool
		tokens, projected int
	}{{nil, 20_500, 20_618}, {&no, 20_000, 20_618}} {
		w := newCountingEnv()
		w.cfg.Usage.CountOutput = tt.countOutput
		rep := session.Report{At: w.now, Tuple: session.UsageTuple{Input: 20_000, Output: 500}, Tokens: 20_500, Provenance: session.ProvenanceReported, Model: "claude-sonnet-4-5"}
		u := w.play(t, session.Event{Host: session.HostOpenCode, Kind: session.UsageReported, Reports: []session.Report{rep}, Content: []session.Piece{{Class: session.PromptText, Text: wordsOf(100)}}}).Session.Usage
		if *u.Tokens != tt.tokens || *u.ProjectedTokens != tt.projected {
			t.Errorf("%d tokens, %d projected; want %d, %d", *u.Tokens, *u.ProjectedTokens, tt.tokens, tt.projected)
		}
	}
}

// For a host without reports, events give an estimate from the start to a compaction, which leaves the configured share.
// The model gets no estimate. The first report replaces it.
func TestSilentHost(t *testing.T) {
	for percent, left := range map[int]int{10: 20_000, 30: 60_000, 60: 120_000} {
		w := newCountingEnv()
		w.rules[session.HostGeneric] = session.Rules{Silent: true}
		w.cfg.Compaction.PostCompactionPercent = &percent
		play := func(kind session.PieceClass, on session.Kind, tokens int) Outcome {
			ev := session.Event{Host: session.HostGeneric, Kind: on}
			if tokens > 0 {
				ev.Content = []session.Piece{{Class: kind, Text: wordsOf(tokens)}}
			}
			return w.play(t, ev)
		}
		if u := play("", session.SessionStarted, 0).Session.Usage; u.Tokens != nil {
			t.Errorf("before anything passed by: %d tokens", *u.Tokens)
		}
		for n := range 4 { // 1008 a prompt, 29,008 a result
			play(session.PromptText, session.PromptSubmitted, 1000)
			out := play(session.ToolResult, session.ToolFinished, 29_000)
			u, want := out.Session.Usage, (n+1)*30_016
			if *u.Tokens != want || *u.ProjectedTokens != want || *u.Provenance != session.ProvenanceEstimate || u.Exact || len(out.Effects) > 0 {
				t.Errorf("turn %d: %d tokens by %s, want %d; said %q", n, *u.Tokens, *u.Provenance, want, texts(out.Effects))
			}
			if u.Band.Low >= want || u.Band.High < want+unseenPrompt {
				t.Errorf("turn %d: %d in %+v", n, want, u.Band)
			}
		}
		if u := play(session.PromptText, session.PromptSubmitted, 10).Session.Usage; u.GrowthPerTurn == nil || *u.GrowthPerTurn != 30_016 {
			t.Errorf("growth %v", u.GrowthPerTurn)
		}
		u := play("", session.CompactionDone, 0).Session.Usage
		if *u.Tokens != left || u.Band.Low >= left || u.Band.High <= left {
			t.Errorf("%d %%: %d tokens in %+v after the compaction, want %d", percent, *u.Tokens, u.Band, left)
		}
		if u = play(session.PromptText, session.PromptSubmitted, 1000).Session.Usage; *u.Tokens != left+1008 {
			t.Errorf("and a prompt: %d", *u.Tokens)
		}
		w.now = w.now.Add(time.Second)
		rep := session.Report{At: w.now, Tuple: session.UsageTuple{Input: 33_000}, Tokens: 33_000, Provenance: session.ProvenanceReported}
		u = w.play(t, session.Event{Host: session.HostGeneric, Kind: session.UsageReported, Reports: []session.Report{rep}}).Session.Usage
		if *u.Tokens != 33_000 || *u.ProjectedTokens != 33_000 || !u.Exact || u.Band != nil {
			t.Errorf("after a report: %d tokens, %d projected, %v", *u.Tokens, *u.ProjectedTokens, u.Band)
		}
	}
}

// For some hosts, the first mark explains the marks.
func TestGuideLate(t *testing.T) {
	w := newCountingEnv()
	w.rules[session.HostGeneric] = session.Rules{GuideLate: true}
	told := []session.EffectKind{session.Inject}
	for n, tt := range []struct {
		ev   session.Event
		said int
	}{
		{session.Event{Kind: session.SessionStarted}, 0},
		{session.Event{Kind: session.PromptSubmitted}, 0},
		{session.Event{Kind: session.UsageReported, Limits: model.Limits{WindowTokens: 1000}, Reports: []session.Report{{Tokens: 500, Tuple: session.UsageTuple{Input: 500}, Provenance: session.ProvenanceReported}}}, 0},
		{session.Event{Kind: session.PromptSubmitted}, 2}, // what it means, and the mark
		{session.Event{Kind: session.PromptSubmitted}, 1},
	} {
		tt.ev.Host, tt.ev.Accepts = session.HostGeneric, told
		w.now = w.now.Add(time.Second)
		if out := w.play(t, tt.ev); len(out.Effects) != tt.said {
			t.Errorf("%d %s: said %q, want %d", n, tt.ev.Kind, texts(out.Effects), tt.said)
		}
	}
}

// A host may write the figures of a response after the results of its calls. The figures do not include these results,
// so they are added, and such a figure teaches nothing.
func TestLateReports(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := newCountingEnv()
		f := &file{w: w}
		f.answers("m1", 47_000, 0, session.Piece{Class: session.AnswerText, Text: wordsOf(10)})
		f.adds(session.Piece{Class: session.ToolCall, Tool: "x", CallID: "1", Text: wordsOf(10)})
		f.adds(session.Piece{Class: session.ToolResult, CallID: "1", Text: wordsOf(2000)})
		f.adds(session.Piece{Class: session.ToolCall, Tool: "x", CallID: "2", Text: wordsOf(10)})
		f.adds(session.Piece{Class: session.ToolResult, CallID: "2", Text: wordsOf(1000)})
		rep := w.reported(50_000)
		rep.At, rep.Late, rep.Model = w.now.Add(time.Second), late, "claude-opus-4-6"
		f.entries = append(f.entries, session.Entry{Offset: int64(len(f.entries)), At: rep.At, Report: &rep})
		out := w.play(t, f.read(0, 6))
		projected := *out.Session.Usage.ProjectedTokens - 50_000
		if late && (projected < 1000 || projected > 1600) || !late && projected > 100 {
			t.Errorf("late %v: %d on top, want the results of the last call", late, projected)
		}
		if learned := len(w.taught) != 0; learned == late {
			t.Errorf("late %v: learned %v", late, w.taught)
		}
	}
}

// A transcript may state the limits of the main model and of a sub-agent's model.
func TestLimitsOfATranscript(t *testing.T) {
	w := newTestEnv()
	reading := func(tokens int) *session.Reading {
		return &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 2, Offset: 3}, Entries: []session.Entry{{Limits: model.Limits{WindowTokens: tokens}}}}
	}
	out := w.play(t, session.Event{Kind: session.BatchFinished, Reading: reading(123_000)}, session.Event{Kind: session.ToolFinished, AgentID: "a", Model: "claude-x", Reading: reading(45_000)})
	if u := out.Session.Usage; u.WindowTokens != 123_000 || u.WindowProvenance != model.WindowFromHost {
		t.Errorf("the window is %d (%s)", u.WindowTokens, u.WindowProvenance)
	}
	if a := out.Session.Agents; len(a) != 1 || a[0].Usage.WindowTokens != 45_000 {
		t.Errorf("agents: %+v", a)
	}
}
