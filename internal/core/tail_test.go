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

// file is a transcript as it grows: each line takes a byte.
type file struct {
	w       *testEnv
	entries []session.Entry
}

// answers adds the lines of one response that was given input tokens, one for each piece. output is what the last of them
// says it took, 0 where the host does not say.
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

// read is an event that brings the lines from one up to another.
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

// text is a text of as many tokens where nothing counts: two sevenths of a byte's.
func wordsOf(tokens int) string { return string(make([]byte, (tokens*7+1)/2)) }

// newCountingEnv returns the world with a counter, which takes every 7 bytes for 2 tokens.
func newCountingEnv() *testEnv {
	w := newTestEnv()
	w.counter = byLength{}
	return w
}

type byLength struct{}

func (byLength) Count(text string) int { return len(text) * 2 / 7 }

// What came after the last response is estimated and kept apart: the reported figure stands, with a range above it that is
// wider upwards. The next response says how it really was, and the model is known better from then on.
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
	if diff := cmp.Diff(&session.Band{Low: 102_460 - 173, High: 102_460 + 173 + 225}, u.Band); diff != "" {
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

// A response is written in several lines with the same figures. It is one report, and its length counts once it is said.
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

// What stood before a compaction is not estimated after it, nor is a difference across it learned from.
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

// What was not read cannot be estimated, and a model is taught only by its own responses.
func TestWhatIsNotLearnedFrom(t *testing.T) {
	for name, between := range map[string]func(*file){
		"a gap": func(f *file) {
			f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(1000)})
			f.adds(session.Piece{Class: session.PromptText, Text: wordsOf(1000)})
			f.w.play(t, f.read(2, 3)) // the line before was never read
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

// What was thought adds up over the responses of a turn, until a person speaks: some models are not given it again then.
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

// A status line is ahead of all that was read: only the answer that it tells of has come since.
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

// Where the host's figure holds the answer already, the answer is not added a second time.
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

// A host that reports nothing is followed by what passes by, from nothing to a compaction, which leaves the share that was
// chosen. None of it is told to a model. A report ends the guessing.
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

// Some hosts are told what marks mean when the first one is due.
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

// Hosts may write the figures of a response down after the results of its calls. Those are not in it, and stand on top; nothing is
// learned from such a figure.
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

// A transcript may state the limits of the model, and those of a sub-agent's.
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
