package session

import (
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
)

func TestObserveStatusLine(t *testing.T) {
	t0 := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	tuple := func(n int) UsageTuple { return UsageTuple{Input: 12, CacheRead: n} }
	line := func(n int) Report { return Report{Tuple: tuple(n), Tokens: n, Provenance: ProvenanceHost} }
	transcript := func(n int, at time.Duration) Report {
		return Report{Tuple: tuple(n), Tokens: n, Provenance: ProvenanceTranscript, At: t0.Add(at)}
	}
	var g Gauge
	see := func(rep Report, since, now time.Duration) bool {
		var counted bool
		g, counted = g.Observe(rep, rep.Tokens, t0.Add(since), t0.Add(now))
		return counted
	}
	if !see(transcript(100, 1*time.Second), 0, 2*time.Second) {
		t.Error("the transcript's first figure")
	}
	if see(line(100), 0, 3*time.Second) || g.Provenance != ProvenanceTranscript {
		t.Error("a status line that repeats a response counted as another one")
	}
	if !see(line(200), 0, 4*time.Second) || g.Tokens != 200 || g.Provenance != ProvenanceHost {
		t.Error("a status line ahead of the transcript did not count")
	}
	if see(line(100), 0, 5*time.Second) {
		t.Error("a late status line of an older response counted")
	}
	if !see(transcript(200, 3*time.Second), 0, 5*time.Second) || g.Provenance != ProvenanceTranscript {
		t.Error("the transcript did not take over")
	}
	if see(transcript(150, 2*time.Second), 0, 6*time.Second) {
		t.Error("an older transcript line counted")
	}
	if see(transcript(900, 7*time.Second), 7*time.Second, 8*time.Second) {
		t.Error("a line from before the compaction counted")
	}
	g = g.Forget()
	if see(line(200), 7*time.Second, 9*time.Second) || g.Known {
		t.Error("a status line of a response from before the compaction counted")
	}
	if see(line(0), 7*time.Second, 9*time.Second) || g.Known {
		t.Error("zeros after a compaction are unknown, not empty")
	}
}

func TestOccupancy(t *testing.T) {
	yes, no := true, false
	rep := Report{Tuple: UsageTuple{Input: 1, CacheRead: 10, CacheWrite: 100, Output: 1_000}}
	for _, tt := range []struct {
		name   string
		cfg    settings.UsageConfig
		counts bool
		tokens int // as the sum from the adapter
		want   int
	}{
		{"Anthropic's", settings.UsageConfig{CountCacheWrites: true}, false, 111, 111},
		{"Anthropic's with the answer", settings.UsageConfig{CountCacheWrites: true, CountOutput: &yes}, false, 111, 1_111},
		{"OpenCode's", settings.UsageConfig{CountCacheWrites: true}, true, 1_111, 1_111},
		{"input and cache reads alone", settings.UsageConfig{CountOutput: &no}, true, 1_111, 11},
	} {
		rep.Tokens = tt.tokens
		if got := rep.Occupancy(tt.cfg, Rules{CountsOutput: tt.counts}); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
