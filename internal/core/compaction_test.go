package core

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
	"pgregory.net/rapid"
)

// All signs of one compaction, in every order: the compaction counts once, the gauge falls once, and earlier figures do
// not count.
func TestSignsOfOneCompaction(t *testing.T) {
	boundary := func(w *testEnv) session.Event {
		at := w.now
		return session.Event{Kind: session.BatchFinished, Reading: &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 10}, Entries: []session.Entry{{Offset: 1, Boundary: &session.Boundary{ID: "b1", At: at, PreTokens: 150_000, PostTokens: 3_229}}}}}
	}
	signs := map[string]func(w *testEnv) session.Event{
		"SessionStart": func(*testEnv) session.Event { return session.Event{Kind: session.CompactionDone} },
		"PostCompact": func(*testEnv) session.Event {
			return session.Event{Kind: session.CompactionDone, CompactedBy: &session.Boundary{Summary: "s"}}
		},
		"boundary": boundary,
	}
	names := []string{"SessionStart", "PostCompact", "boundary"}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		opened := seed%2 == 0
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		t.Run(fmt.Sprint(names, " opened ", opened), func(t *testing.T) {
			w := newTestEnv()
			w.play(t, w.at(session.BatchFinished, 150_000))
			before := w.reported(150_000)
			if opened {
				w.play(t, session.Event{Kind: session.CompactionOpened})
			}
			w.now = w.now.Add(time.Second)
			line := boundary(w)
			for _, name := range names {
				ev := signs[name](w)
				if name == "boundary" {
					ev = line
				}
				w.play(t, ev)
			}
			out := w.play(t, session.Event{Kind: session.BatchFinished, Reports: []session.Report{before}})
			if u := out.Session.Usage; out.Session.Compactions != 1 || *u.Tokens != 3_229 || *u.Provenance != session.ProvenanceEstimate {
				t.Errorf("%d compactions, %d tokens by %s", out.Session.Compactions, *u.Tokens, *u.Provenance)
			}
			out = w.play(t, w.at(session.BatchFinished, 20_000), w.at(session.BatchFinished, 90_000), session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone})
			if out.Session.Compactions != 2 {
				t.Errorf("%d compactions after the next one", out.Session.Compactions)
			}
		})
	}
}

func TestRepeatedCompactionChangesNothing(t *testing.T) {
	w := newTestEnv()
	done := session.Event{Kind: session.CompactionDone, CompactedBy: &session.Boundary{ID: "2026-11-21T09:00:05Z", At: w.now.Add(3 * time.Second), PostTokens: 0}}
	w.play(t, w.at(session.BatchFinished, 150_000), session.Event{Kind: session.ToolStarting}, done, w.at(session.BatchFinished, 70_000))
	out := w.play(t, done)
	if *out.Session.Usage.Tokens != 70_000 || out.Session.Compactions != 1 {
		t.Errorf("%d tokens, %d compactions", *out.Session.Usage.Tokens, out.Session.Compactions)
	}
}

// A compaction without its opening hook counts separately, if there was a report since the last compaction.
func TestCompactionWithoutOpening(t *testing.T) {
	w := newTestEnv()
	w.play(t, w.at(session.BatchFinished, 150_000), session.Event{Kind: session.CompactionDone}, session.Event{Kind: session.CompactionDone}, w.at(session.BatchFinished, 50_000))
	w.now = w.now.Add(lateSign)
	out := w.play(t, session.Event{Kind: session.CompactionDone})
	if out.Session.Compactions != 2 || *out.Session.Usage.Tokens != 16_000 {
		t.Errorf("%d compactions, %d tokens", out.Session.Compactions, *out.Session.Usage.Tokens)
	}
}

// Without openings and reports, names distinguish compactions.
func TestCompactionsByName(t *testing.T) {
	w := newTestEnv()
	done := func(id string) session.Event {
		w.now = w.now.Add(time.Minute)
		return session.Event{Kind: session.CompactionDone, CompactedBy: &session.Boundary{ID: id, At: w.now}}
	}
	w.play(t, w.at(session.BatchFinished, 150_000), done("09:01"), session.Event{Kind: session.CompactionDone})
	out := w.play(t, done("09:02"), done("09:03"))
	if out.Session.Compactions != 3 {
		t.Errorf("%d compactions, want 3", out.Session.Compactions)
	}
}

// An agent that sends its own events reports a compaction once, and may send no opening. New content or another name
// distinguishes the next compaction from a repeat, even at the same time.
func TestCompactionsOfAnAgentWithoutOpenings(t *testing.T) {
	prompt := func(*testEnv) session.Event {
		return session.Event{Host: session.HostGeneric, Kind: session.PromptSubmitted, Content: []session.Piece{{Class: session.PromptText, Text: wordsOf(1000)}}}
	}
	report := func(w *testEnv) session.Event {
		return session.Event{Host: session.HostGeneric, Kind: session.UsageReported, Reports: []session.Report{{At: w.now, Tokens: 150_000, Provenance: session.ProvenanceReported}}}
	}
	done := func(id string) func(*testEnv) session.Event {
		return func(*testEnv) session.Event {
			return session.Event{Host: session.HostGeneric, Kind: session.CompactionDone, CompactedBy: &session.Boundary{ID: id}}
		}
	}
	opened := func(*testEnv) session.Event {
		return session.Event{Host: session.HostGeneric, Kind: session.CompactionOpened}
	}
	for name, tt := range map[string]struct {
		events []func(*testEnv) session.Event
		want   int
		left   int
	}{
		"said twice":                {[]func(*testEnv) session.Event{prompt, done(""), done("")}, 1, 1_008},
		"prompts in between":        {[]func(*testEnv) session.Event{prompt, done(""), prompt, done(""), prompt, done("")}, 3, 3_024},
		"reports in between":        {[]func(*testEnv) session.Event{report, done(""), report, done(""), report, done("")}, 3, 48_000},
		"opened, then not":          {[]func(*testEnv) session.Event{report, opened, done(""), report, done("")}, 2, 48_000},
		"names":                     {[]func(*testEnv) session.Event{report, done("a"), done("b"), done("b"), done("c")}, 3, 48_000},
		"names, opened":             {[]func(*testEnv) session.Event{report, opened, done("a"), done("b")}, 2, 48_000},
		"a name, after it worked":   {[]func(*testEnv) session.Event{report, done("a"), report, done("a")}, 1, 150_000},
		"opened again, one answers": {[]func(*testEnv) session.Event{report, opened, done(""), report, opened, done(""), done("")}, 2, 48_000},
	} {
		w := newCountingEnv()
		w.rules[session.HostGeneric] = session.Rules{Silent: true}
		var out Outcome
		for _, event := range tt.events {
			w.now = w.now.Add(time.Second)
			out = w.play(t, event(w))
		}
		if u := out.Session.Usage; out.Session.Compactions != tt.want || *u.Tokens != tt.left {
			t.Errorf("%s: %d compactions, %d tokens, want %d", name, out.Session.Compactions, *u.Tokens, tt.want)
		}
	}
}

// The last sign can come while the model is already working again. It adds data to the compaction and resets nothing.
func TestLateSign(t *testing.T) {
	w := newTestEnv()
	w.play(t, session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/a.go", Use: session.Read}}}, w.at(session.BatchFinished, 150_000), session.Event{Kind: session.CompactionOpened},
		session.Event{Kind: session.CompactionDone}, w.at(session.BatchFinished, 20_000))
	out := w.play(t, session.Event{Kind: session.CompactionDone, Accepts: []session.EffectKind{}, CompactedBy: &session.Boundary{Summary: "nothing"}})
	if out.Session.Compactions != 1 || *out.Session.Usage.Tokens != 20_000 || len(out.Lost) != 1 {
		t.Errorf("%d compactions, %d tokens, lost %v", out.Session.Compactions, *out.Session.Usage.Tokens, out.Lost)
	}
}

// A status line can be late too. After a compaction it adds nothing to the transcript.
func TestLateStatusLineAfterCompaction(t *testing.T) {
	w := newTestEnv()
	line := session.Event{Kind: session.UsageReported, Reports: []session.Report{{Tokens: 143_912, Tuple: session.UsageTuple{Input: 143_912}, Provenance: session.ProvenanceHost}}}
	w.play(t, w.at(session.BatchFinished, 140_000), session.Event{Kind: session.BatchFinished, Reading: &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 9}}},
		session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone}, line)
	if out := w.play(t, session.Event{Kind: session.PromptSubmitted}); *out.Session.Usage.Tokens != 44_800 || len(out.Effects) != 0 {
		t.Errorf("%d tokens, said %q", *out.Session.Usage.Tokens, texts(out.Effects))
	}
	if out := w.play(t, w.at(session.BatchFinished, 20_000), line); *out.Session.Usage.Tokens != 143_912 {
		t.Error("after a report, a status line ahead of the transcript counts again")
	}
}

// A host may write its transcript after its last status line. A figure that is too small for a response from before the compaction counts.
func TestStatusLineAheadOfTheTranscriptAfterCompaction(t *testing.T) {
	w := newTestEnv()
	line := session.Event{Kind: session.UsageReported, Reports: []session.Report{{Tokens: 30_000, Tuple: session.UsageTuple{Input: 30_000}, Provenance: session.ProvenanceHost}}}
	out := w.play(t, w.at(session.BatchFinished, 140_000), session.Event{Kind: session.BatchFinished, Reading: &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 9}}},
		session.Event{Kind: session.CompactionOpened}, session.Event{Kind: session.CompactionDone}, session.Event{Kind: session.PromptSubmitted}, line)
	if u := out.Session.Usage; *u.Tokens != 30_000 || *u.Provenance != session.ProvenanceHost {
		t.Errorf("%d tokens by %s, want what the status line says", *u.Tokens, *u.Provenance)
	}
}

func TestOpeningIsCancelled(t *testing.T) {
	for name, ev := range map[string]func(*testEnv) session.Event{
		"a prompt": func(*testEnv) session.Event { return session.Event{Kind: session.PromptSubmitted} },
		"a stop":   func(*testEnv) session.Event { return session.Event{Kind: session.TurnFinished} },
		"a report": func(w *testEnv) session.Event { return w.at(session.BatchFinished, 160_000) },
		"10 minutes": func(w *testEnv) session.Event {
			w.now = w.now.Add(openingExpires)
			return session.Event{Kind: session.ToolStarting}
		},
	} {
		w := newTestEnv()
		w.play(t, w.at(session.BatchFinished, 150_000), session.Event{Kind: session.CompactionOpened})
		if !w.session().Compaction.OpenedAt.After(time.Time{}) {
			t.Fatal("not opened")
		}
		if out := w.play(t, ev(w)); out.Session.Compacting || out.Session.Compactions != 0 {
			t.Errorf("%s: compacting %v, %d compactions", name, out.Session.Compacting, out.Session.Compactions)
		}
	}
	w := newTestEnv()
	late := w.reported(155_000)
	w.play(t, session.Event{Kind: session.CompactionOpened})
	if out := w.play(t, session.Event{Kind: session.ToolStarting, Reports: []session.Report{late}}); !out.Session.Compacting {
		t.Error("a report from before the opening cancelled it")
	}
}

// After the host cleared old tool results, the occupancy is unknown until the next report.
func TestMicrocompaction(t *testing.T) {
	w := newTestEnv()
	w.play(t, w.at(session.BatchFinished, 150_000))
	out := w.play(t, session.Event{Kind: session.BatchFinished, Reading: &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 9}, Entries: []session.Entry{{Boundary: &session.Boundary{ID: "m", At: w.now, Micro: true}}}}})
	if u := out.Session.Usage; u.Tokens != nil || u.Percent != nil || out.Session.Compactions != 0 || len(out.Effects) != 0 {
		t.Errorf("usage %+v, %d compactions", u, out.Session.Compactions)
	}
	if out = w.play(t, w.at(session.BatchFinished, 80_000)); *out.Session.Usage.Tokens != 80_000 {
		t.Errorf("after the next report: %d", *out.Session.Usage.Tokens)
	}
}

// If the summary is not visible, the agent gets the whole working context after the compaction.
func TestSurvivalWithoutSummary(t *testing.T) {
	w := newTestEnv()
	codex := func(e session.Event) session.Event { e.Host = session.HostCodex; return e }
	w.play(t, codex(session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/a.go", Use: session.Read}}}), codex(session.Event{Kind: session.CompactionOpened, Accepts: []session.EffectKind{}}),
		codex(session.Event{Kind: session.CompactionDone, Accepts: []session.EffectKind{}}))
	out := w.play(t, codex(session.Event{Kind: session.CompactionDone}))
	if got, want := texts(out.Effects), "ctxls: working context\nCurrent file paths in context:\n  - a.go"; got != want {
		t.Errorf("got %q", got)
	}
	if out = w.play(t, codex(session.Event{Kind: session.CompactionDone})); len(out.Effects) != 0 {
		t.Errorf("told twice: %q", texts(out.Effects))
	}
}

func TestPostCompactionPercent(t *testing.T) {
	for percent, want := range map[int]int{10: 20_000, 30: 60_000, 60: 120_000} {
		if got := (session.Gauge{}).AfterCompaction(0, 0, 150_000, 200_000, &percent, time.Time{}).Tokens; got != want {
			t.Errorf("%d%%: %d tokens, want %d", percent, got, want)
		}
	}
}

// The estimate after a compaction depends on the earlier occupancy, not on the window, and is never larger.
func TestAfterCompaction(t *testing.T) {
	ten := 10
	for _, tt := range []struct {
		name           string
		g              session.Gauge
		post, base     int
		before, window int
		percent        *int
		want           int
	}{
		{"the host says what remained", session.Gauge{}, 3_229, 0, 150_000, 200_000, nil, 3_229},
		{"the host says what remained of the messages", session.Gauge{}, 17_692, 44_000, 203_312, 1_000_000, nil, 61_692},
		{"the host says that more remained than there was", session.Gauge{}, 60_000, 0, 52_912, 200_000, nil, 52_912},
		{"a share of what there was", session.Gauge{}, 0, 0, 150_000, 200_000, nil, 48_000},
		{"the same in a window taken to be a million", session.Gauge{}, 0, 0, 167_000, 1_000_000, nil, 53_440},
		{"a share of the window where the user chose one", session.Gauge{}, 0, 0, 150_000, 200_000, &ten, 20_000},
		{"but not above what there was", session.Gauge{}, 0, 0, 12_000, 200_000, &ten, 12_000},
		{"a share of the window where nothing was reported", session.Gauge{}, 0, 0, 0, 200_000, nil, 60_000},
		{"but not above the estimate", session.Gauge{Known: true, Tokens: 30_000, Appended: 500, Provenance: session.ProvenanceEstimate}, 0, 0, 0, 200_000, nil, 30_500},
	} {
		g := tt.g.AfterCompaction(tt.post, tt.base, tt.before, tt.window, tt.percent, time.Time{})
		if band, known := g.Band(); g.Tokens != tt.want || !known || band.Low > g.Tokens || band.High < g.Tokens {
			t.Errorf("%s: %d in %+v, want %d", tt.name, g.Tokens, band, tt.want)
		}
	}
}

// The host clears old results just before it compacts. The compaction counts, and the gauge shows its estimate.
func TestCompactionAfterMicrocompaction(t *testing.T) {
	w := newTestEnv()
	w.play(t, w.at(session.BatchFinished, 150_000))
	at := w.now
	w.now = w.now.Add(time.Minute)
	out := w.play(t, session.Event{Kind: session.BatchFinished, Reading: &session.Reading{Cursor: session.Cursor{Device: 1, Inode: 1, Offset: 9}, Entries: []session.Entry{
		{Boundary: &session.Boundary{ID: "m", At: at.Add(time.Second), Micro: true}},
		{Boundary: &session.Boundary{ID: "b", At: at.Add(2 * time.Second), PreTokens: 151_000}},
	}}})
	if u := out.Session.Usage; out.Session.Compactions != 1 || u.Tokens == nil || *u.Tokens != 48_320 {
		t.Errorf("%d compactions, usage %+v", out.Session.Compactions, u)
	}
}

// For any events in any order: a sub-agent never moves the main gauge; the gauge shows the newest report since the last
// compaction and never more than was reported; a Done with an ID counts once.
func TestOccupancyLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newTestEnv()
		done := map[string]bool{}
		for range rapid.IntRange(1, 30).Draw(rt, "events") {
			before := w.session()
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				tokens := rapid.IntRange(1, 900_000).Draw(rt, "tokens")
				w.play(t, w.at(session.BatchFinished, tokens))
				if got := w.session().Gauge; got.Tokens != tokens || !got.Reported() {
					rt.Fatalf("a newer report of %d did not win: %+v", tokens, got)
				}
			case 1:
				rep := w.reported(rapid.IntRange(1, 900_000).Draw(rt, "old"))
				rep.At = rep.At.Add(-time.Duration(rapid.IntRange(0, 100).Draw(rt, "age")) * time.Second)
				w.play(t, session.Event{Kind: session.BatchFinished, Reports: []session.Report{rep}})
				got := w.session().Gauge
				if before.Gauge.Known && rep.At.Before(before.Gauge.At) && got.Tokens != before.Gauge.Tokens {
					rt.Fatalf("an older report counted: %+v, then %+v", before.Gauge, got)
				}
			case 2:
				ev := w.at(session.BatchFinished, rapid.IntRange(1, 900_000).Draw(rt, "inside"))
				ev.AgentID = "a"
				w.play(t, ev)
				if got := w.session().Gauge; got.Tokens != before.Gauge.Tokens || got.Known != before.Gauge.Known {
					rt.Fatal("a sub-agent moved the main gauge")
				}
			case 3:
				w.play(t, session.Event{Kind: session.CompactionOpened})
			case 4:
				id := fmt.Sprint(rapid.IntRange(0, 6).Draw(rt, "id"))
				w.play(t, session.Event{Kind: session.CompactionDone, CompactedBy: &session.Boundary{ID: id}})
				after := w.session()
				if done[id] && (after.Compaction.Count != before.Compaction.Count || after.Gauge.Tokens != before.Gauge.Tokens) {
					rt.Fatalf("a repeated compaction %s changed something", id)
				}
				done[id] = true
			case 5:
				w.play(t, session.Event{Kind: session.UsageReported, Reports: []session.Report{{Tokens: 0, Provenance: session.ProvenanceHost}}})
				if got := w.session().Gauge; got.Tokens != before.Gauge.Tokens || got.Known != before.Gauge.Known {
					rt.Fatal("zeros counted")
				}
			}
		}
	})
}

// If the host shows hook output to the agent, the agent gets the files through it, and only once.
func TestSurvivalByTheHostsEcho(t *testing.T) {
	for echoed, want := range map[bool]string{
		true:  "",
		false: "ctxls: working context\nFiles in use before the compaction that its summary does not name:\n  - a.go",
	} {
		w := newTestEnv()
		out := w.play(t, session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/a.go", Use: session.Read}}}, session.Event{Kind: session.CompactionOpened, Echoed: echoed},
			session.Event{Kind: session.CompactionDone, Accepts: []session.EffectKind{}}, session.Event{Kind: session.CompactionDone, Accepts: []session.EffectKind{}, CompactedBy: &session.Boundary{Summary: "nothing"}},
			session.Event{Kind: session.PromptSubmitted})
		if got := texts(out.Effects); got != want {
			t.Errorf("echoed %v: said %q", echoed, got)
		}
		// The next compaction starts without any of it.
		out = w.play(t, w.at(session.BatchFinished, 150_000), session.Event{Kind: session.CompactionOpened},
			session.Event{Kind: session.CompactionDone, Accepts: []session.EffectKind{}, CompactedBy: &session.Boundary{Summary: "nothing"}}, session.Event{Kind: session.PromptSubmitted})
		if got := texts(out.Effects); !strings.HasSuffix(got, "does not name:\n  - a.go") {
			t.Errorf("echoed %v: said after the next compaction %q", echoed, got)
		}
	}
	// A host that accepted no text shows no text, and neither does a failed attempt.
	w := newTestEnv()
	out := w.play(t, session.Event{Kind: session.ToolFinished, Paths: []session.PathUse{{Path: "/p/a.go", Use: session.Read}}}, session.Event{Kind: session.CompactionOpened, Echoed: true, Accepts: []session.EffectKind{}},
		session.Event{Kind: session.CompactionDone, Accepts: []session.EffectKind{}, CompactedBy: &session.Boundary{Summary: "nothing"}}, session.Event{Kind: session.PromptSubmitted})
	if len(out.Effects) != 1 {
		t.Errorf("nothing was echoed: said %q", texts(out.Effects))
	}
}

// Compactions from before ctxls first saw a session count, once.
func TestEarlierCompactionsCount(t *testing.T) {
	w := newTestEnv()
	read := func(from int64, entries ...session.Entry) int {
		cursor := session.Cursor{Device: 1, Inode: 1, Offset: from}
		return w.play(t, session.Event{Kind: session.BatchFinished, Reading: &session.Reading{Cursor: cursor, Entries: entries}}).Session.Compactions
	}
	earlier := func(id string) session.Entry {
		return session.Entry{Earlier: true, Boundary: &session.Boundary{ID: id, At: w.now.Add(-time.Hour)}}
	}
	if n := read(9, earlier("b1"), earlier("b2"), earlier("b2")); n != 2 {
		t.Errorf("at first sight %d compactions", n)
	}
	if n := read(19, earlier("b0")); n != 2 {
		t.Errorf("read once more: %d compactions", n)
	}
}

// The host says how many tokens of messages a compaction left. The system prompt and the tools come on top: at first as many as the
// session began with, then as many as the request after the last compaction showed.
func TestRestIsMessages(t *testing.T) {
	w := newTestEnv()
	report := func(tokens int) {
		t.Helper()
		w.now = w.now.Add(time.Minute)
		w.play(t, w.at(session.BatchFinished, tokens))
	}
	compact := func(id string, before, rest, want int) {
		t.Helper()
		w.now = w.now.Add(time.Minute)
		b := &session.Boundary{ID: id, At: w.now, PreTokens: before, PostTokens: rest, Messages: true, Automatic: true}
		out := w.play(t, session.Event{Kind: session.CompactionDone, CompactedBy: b})
		if u := out.Session.Usage; u.Tokens == nil || *u.Tokens != want || u.Exact || u.Band == nil || u.Band.Low >= want || u.Band.High <= want {
			t.Errorf("after %s: %+v, want %d", id, u, want)
		}
	}
	report(41_987)
	report(203_312)
	compact("b1", 213_002, 17_692, 41_987+17_692)
	report(61_596) // which is 43,904 more than was left
	report(166_408)
	compact("b2", 167_009, 20_255, 43_904+20_255)
}

// OpenCode keeps about as much beside the system prompt and the tools, whatever there was before. The user's own share goes before.
func TestRestIsAboutTheSame(t *testing.T) {
	for _, tt := range []struct {
		first, before int
		percent       *int
		want          int
	}{{9_077, 140_000, nil, 14_000}, {9_077, 350_000, nil, 14_000}, {9_077, 140_000, new(20), 40_000}} { // 77 are the first answer
		w := newTestEnv()
		rules := openCodeRules
		rules.CompactionLeaves = 5_000
		w.rules[session.HostOpenCode] = rules
		w.cfg.Compaction.PostCompactionPercent = tt.percent
		for _, tokens := range []int{tt.first, tt.before} {
			w.now = w.now.Add(time.Minute)
			ev := w.at(session.BatchFinished, tokens)
			ev.Host = session.HostOpenCode
			w.play(t, ev)
		}
		w.now = w.now.Add(time.Minute)
		out := w.play(t, session.Event{Host: session.HostOpenCode, Kind: session.CompactionDone, CompactedBy: &session.Boundary{At: w.now}})
		if u := out.Session.Usage; u.Tokens == nil || *u.Tokens != tt.want || u.Exact || u.Band == nil || u.Band.Low >= tt.want || u.Band.High <= tt.want {
			t.Errorf("%+v: %+v", tt, u)
		}
	}
}

// An answer that its host counts was in the window as well: no report is shown against a window that is smaller.
func TestAnswerBeyondTheAssumedWindow(t *testing.T) {
	w := newTestEnv()
	rep := w.reported(200_826)
	rep.Tuple, rep.Model, rep.At = session.UsageTuple{Input: 199_900, Output: 926}, "big-pickle", whenPlayed
	out := w.play(t, session.Event{Host: session.HostOpenCode, Kind: session.BatchFinished, Reports: []session.Report{rep}})
	if u := out.Session.Usage; u.Tokens == nil || *u.Tokens != 200_826 || u.WindowTokens <= 200_826 {
		t.Errorf("%+v", u)
	}
}
