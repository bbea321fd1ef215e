package main

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/plan"
	"pgregory.net/rapid"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), "../../host/claudecode/testdata/transcripts", &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Contexts: ", "| superseded |", "| follow the advice (", "| oracle |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if err := run(t.Context(), t.TempDir(), &out); err == nil {
		t.Error("a directory without transcripts is no error")
	}
}

const (
	oldText = "package a which is the first version of it\nfunc old() is still here and does things\n"
	newText = "package a which is the other version of it\nfunc new() is now here and does things\n"
)

// recorded is a recording of calls: TOOL|INPUT|RESULT each, a request before each call.
func recordingOf(calls ...string) (r recording) {
	r.model, r.before = "claude-opus-4-6", 1000
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	r.parts = append(r.parts, plan.Part{Class: plan.Prompt, Message: -1, Text: "go", Tokens: 10, Within: -1})
	for i, call := range calls {
		r.requests = append(r.requests, request{len(r.parts), at.Add(time.Duration(i) * time.Minute)})
		tool, rest, isCall := strings.Cut(call, "|")
		if !isCall {
			r.parts = append(r.parts, plan.Part{Class: plan.Answer, Message: -1, Text: call, Tokens: 10, Within: -1})
			continue
		}
		input, result, _ := strings.Cut(rest, "|")
		id := fmt.Sprint("c", i)
		r.parts = append(r.parts,
			plan.Part{Class: plan.Call, Message: -1, Tool: tool, Text: input, CallID: id, Tokens: 20, Left: 15, Within: -1, Path: "/a.go"},
			plan.Part{Class: plan.Result, Message: -1, Text: result, CallID: id, Tokens: 2000, Left: 15, Within: -1})
	}
	r.requests = append(r.requests, request{len(r.parts), at.Add(time.Hour)})
	return r
}

// A read that was superseded is needed when its very content is read again, or a line that only it had is written.
func TestNeeds(t *testing.T) {
	read, edit := `Read|{"file_path":"/a.go"}|`, `Edit|{"file_path":"/a.go","old_string":"x"}|ok`
	start := []string{read + oldText, edit, read + newText, "one", edit, edit, edit, edit, edit, edit}
	for _, tt := range []struct {
		name                 string
		then                 string
		again, quoted, newer int
	}{
		{"nothing", "done", 0, 0, 0},
		{"read again, and what was taken came back", read + oldText, 1, 0, 0},
		{"read again", read + newText + "and more of it\n", 0, 0, 1},
		{"a line of it written", `Edit|{"file_path":"/a.go","new_string":"func old() is still here and does things"}|ok`, 0, 1, 0},
		{"a line of the newer one written", `Edit|{"file_path":"/a.go","new_string":"func new() is now here and does things"}|ok`, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n needs
			n.follow(newLedger(recordingOf(append(start, tt.then, "done")...)))
			if n.marked[plan.Superseded] < 1 || n.readAgain[plan.Superseded] != tt.again || n.quoted[plan.Superseded] != tt.quoted || n.readNewer[plan.Superseded] != tt.newer {
				t.Errorf("%+v", n)
			}
		})
	}
}

// The bookkeeping agrees with itself: no cut costs what the context costs, a plan that is followed costs what its figures say, and no
// policy is better than the oracle.
func TestEconomy(t *testing.T) {
	read, edit := `Read|{"file_path":"/a.go"}|`, `Edit|{"file_path":"/a.go","old_string":"x"}|ok`
	calls := []string{read + oldText, edit, read + newText}
	for range 40 {
		calls = append(calls, edit)
	}
	l := newLedger(recordingOf(calls...))
	none, cuts := l.play(func(int, plan.Found) []plan.Item { return nil })
	if plain := l.plain(); math.Abs(none-plain) > 1e-6 || cuts != 0 {
		t.Errorf("without a cut %v, plain %v", none, plain)
	}
	advised, cuts := l.play(l.advised)
	if oracle := l.oracle(); advised < oracle-1e-6 || oracle >= none {
		t.Errorf("advised %v in %d cuts, oracle %v, plain %v", advised, cuts, oracle, none)
	}
	// One cut of one item before request 10: it is written once, and read less often by all that follow.
	var it plan.Item
	once, _ := l.play(func(i int, found plan.Found) []plan.Item {
		if i != 10 {
			return nil
		}
		for _, one := range found.Items {
			if one.Kind == plan.Superseded {
				it = one
				return []plan.Item{one}
			}
		}
		return nil
	})
	later := len(l.totals) - 1 - 10 - 1 // the last finds the cache cold, and writes it
	first := l.before + 10 + 20
	rewritten := l.totals[9] - first - 2000
	want := none + float64(rewritten)*1.15 - 2000*0.1 - float64(it.Tokens)*(float64(later)*0.1+1.25) + 15*1.15
	if it.Kind == "" || math.Abs(once-want) > 60 {
		t.Errorf("one cut of %+v costs %v, want about %v", it, once, want)
	}
}

// The oracle finds the cheapest of all possible choices of cuts.
func TestOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ledger{prices: plan.Prices{CacheRead: rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(t, "read"), CacheWrite: 1.25}}
		l.before = 100
		var frees []free
		for i := range rapid.IntRange(1, 6).Draw(t, "requests") {
			for range rapid.IntRange(0, 2).Draw(t, "parts") {
				l.parts = append(l.parts, plan.Part{Class: plan.Result, Tokens: rapid.IntRange(1, 40).Draw(t, "tokens")})
				if rapid.Bool().Draw(t, "goes") && len(frees) < 4 {
					part := len(l.parts) - 1
					frees = append(frees, free{part, i + rapid.IntRange(1, 3).Draw(t, "after"), rapid.IntRange(1, l.parts[part].Tokens).Draw(t, "frees")})
				}
			}
			total := l.before
			for _, p := range l.parts {
				total += p.Tokens
			}
			l.requests, l.totals = append(l.requests, request{parts: len(l.parts)}), append(l.totals, total)
			l.cold = append(l.cold, i == 0 || rapid.IntRange(0, 4).Draw(t, "cold") == 0)
			var found plan.Found
			for _, f := range frees {
				if f.since <= i {
					found.Items = append(found.Items, plan.Item{Part: f.part, Tokens: f.tokens})
				}
			}
			l.found = append(l.found, found)
		}
		if want, got := cheapest(&l, frees, map[int]bool{}, 0, 0), l.oracle(); math.Abs(got-want) > 1e-6 {
			t.Fatalf("the oracle says %v, the cheapest of all choices costs %v", got, want)
		}
	})
}

// cheapest tries all cuts from request i on. gone are the parts that were cut, last the tokens of the request before.
func cheapest(l *ledger, frees []free, gone map[int]bool, i, last int) float64 {
	if i == len(l.totals) {
		return 0
	}
	least := math.Inf(1)
	for from := 0; from <= len(l.parts); from++ { // the last cuts nothing
		cut, total, before, next := false, l.totals[i], l.before, maps.Clone(gone)
		for _, f := range frees {
			if f.part >= from && f.since <= i && !gone[f.part] {
				cut, next[f.part] = true, true
			}
			if next[f.part] {
				total -= f.tokens
				if f.part < from {
					before -= f.tokens
				}
			}
		}
		if !cut && from < len(l.parts) {
			continue
		}
		held := last
		if cut {
			for _, p := range l.parts[:from] {
				before += p.Tokens
			}
			held = min(held, before)
		}
		if l.cold[i] {
			held = 0
		}
		cost := float64(held)*l.prices.CacheRead + float64(total-held)*l.prices.CacheWrite
		least = min(least, cost+cheapest(l, frees, next, i+1, total))
	}
	return least
}
