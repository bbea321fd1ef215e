package storetest

import (
	"fmt"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

var pathTests = map[string]func(*testing.T, *fixture){
	"the most recently used first": func(t *testing.T, f *fixture) {
		f.update(key("s1"), session.Changes{Session: ptr(newSession("s1", 0)), Paths: []session.PathUse{
			{Path: "old.go", Use: session.Edited, At: after(1)},
			{Path: "b.go", Use: session.Read, At: after(3)},
			{Path: "a.go", Use: session.Read, At: after(3)},
			{Path: "c.go", Use: session.Edited, At: after(3)},
			{Path: "undated", Use: session.Mentioned},
			{Path: "new.go", Use: session.Mentioned, At: after(4)},
		}})
		want := []session.PathUse{
			{Path: "new.go", Use: session.Mentioned, At: after(4)},
			{Path: "c.go", Use: session.Edited, At: after(3)},
			{Path: "a.go", Use: session.Read, At: after(3)},
			{Path: "b.go", Use: session.Read, At: after(3)},
			{Path: "old.go", Use: session.Edited, At: after(1)},
			{Path: "undated", Use: session.Mentioned},
		}
		f.want("Session", f.session(key("s1")).WorkingSet, want)
		f.want("Update", f.load(core.Query{Key: key("s1"), WorkingSet: true}).WorkingSet, want)
		f.want("an update that does not ask", f.load(core.Query{Key: key("s1")}).WorkingSet, []session.PathUse(nil))
	},
	"a path that comes again keeps its heaviest use and its latest time": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		for _, use := range []session.PathUse{
			{Path: "a.go", Use: session.Edited, At: after(1)},
			{Path: "a.go", Use: session.Read, At: after(9)},
			{Path: "a.go", Use: session.Mentioned, At: after(5)},
		} {
			f.update(key("s1"), session.Changes{Paths: []session.PathUse{use}})
		}
		f.want("working set", f.session(key("s1")).WorkingSet, []session.PathUse{{Path: "a.go", Use: session.Edited, At: after(9)}})
	},
	"the least recently used go": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0), newSession("s2", 0))
		f.update(key("s2"), session.Changes{Paths: []session.PathUse{{Path: "kept", Use: session.Read, At: noon}}})
		var uses []session.PathUse
		for i := range session.MaxWorkingSet + 10 {
			uses = append(uses, session.PathUse{Path: fmt.Sprint(i), Use: session.Read, At: after(i)})
		}
		f.update(key("s1"), session.Changes{Paths: uses})
		set := f.session(key("s1")).WorkingSet
		f.want("length", len(set), session.MaxWorkingSet)
		f.want("first", set[0].Path, fmt.Sprint(session.MaxWorkingSet+9))
		f.want("last", set[len(set)-1].Path, "10")
		f.update(key("s1"), session.Changes{Paths: []session.PathUse{{Path: "too old", Use: session.Edited, At: after(5)}}})
		f.want("after an older one", f.session(key("s1")).WorkingSet, set)
		f.want("the other session", len(f.session(key("s2")).WorkingSet), 1)
	},
	"bytes of paths are kept as they are": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		for i, path := range []string{"\xff\xfe/latin\xe9", "a\x00b", "caf\u00e9", "caf\u0065\u0301", "a b'\"%_\n\u202e", ""} {
			f.update(key("s1"), session.Changes{Paths: []session.PathUse{{Path: path, Use: session.Read, At: after(i)}}})
			f.want("first", f.session(key("s1")).WorkingSet[0].Path, path)
		}
	},
	"paths and samples need their session": func(t *testing.T, f *fixture) {
		for _, changes := range []session.Changes{
			{Paths: []session.PathUse{{Path: "a", Use: session.Read, At: noon}}},
			{Samples: []session.Sample{{At: noon, Kind: session.SampleUsage}}},
		} {
			changes.Trim = &fleet.TrimCount{Operations: 1}
			err := f.store.Update(t.Context(), core.Query{Key: key("nobody")}, func(session.State) session.Changes { return changes })
			f.wantCode("Update", err, coded.Internal)
		}
		f.want("trims", f.fleet(0).Trim, fleet.TrimCount{})
	},
}

var sampleTests = map[string]func(*testing.T, *fixture){
	"oldest first, the newest where there is a limit": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0), newSession("s2", 0))
		samples := []session.Sample{
			{At: after(1), Tokens: 100, WindowTokens: 200_000, Kind: session.SampleUsage},
			{At: after(3), Tokens: 300, WindowTokens: 200_000, Kind: session.SampleCompaction},
			{At: after(2), Tokens: 200, WindowTokens: 1_000_000, Kind: session.SampleEstimate}, // read from a transcript, later
			{At: after(3), Tokens: 301, WindowTokens: 200_000, Kind: session.SampleUsage},
		}
		f.update(key("s1"), session.Changes{Samples: samples[:2]})
		f.update(key("s1"), session.Changes{Samples: samples[2:]})
		f.update(key("s2"), session.Changes{Samples: samples[:1]})
		want := []session.Sample{samples[0], samples[2], samples[1], samples[3]}
		f.want("all", f.samples(key("s1"), 0), want)
		f.want("the newest two", f.samples(key("s1"), 2), want[2:])
		f.want("more than there are", f.samples(key("s1"), 9), want)
	},
	"the past thins out, compactions stay": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0), newSession("s2", 0))
		f.update(key("s2"), session.Changes{Samples: []session.Sample{{At: noon, Kind: session.SampleUsage}}})
		const total = 3 * MaxSamples
		each := 7
		if testing.Short() {
			each = 70
		}
		compactions := 0
		for from := 0; from < total; from += each {
			var samples []session.Sample
			for i := from; i < from+each; i++ {
				sample := session.Sample{At: after(i), Tokens: i, Kind: session.SampleUsage}
				if i%50 == 0 {
					sample.Kind = session.SampleCompaction
					compactions++
				}
				samples = append(samples, sample)
			}
			f.update(key("s1"), session.Changes{Samples: samples})
			if from%(each*30) == 0 {
				if n := len(f.samples(key("s1"), 0)); n > MaxSamples {
					t.Fatalf("%d samples after %d", n, from)
				}
			}
		}
		samples := f.samples(key("s1"), 0)
		if len(samples) > MaxSamples || len(samples) < MaxSamples/2 {
			t.Errorf("%d samples are kept", len(samples))
		}
		kept := 0
		for i, sample := range samples {
			if i > 0 && !sample.At.After(samples[i-1].At) {
				t.Fatalf("sample %d is not after the one before", i)
			}
			if sample.Kind == session.SampleCompaction {
				kept++
			}
		}
		f.want("compactions", kept, compactions)
		f.want("the first", samples[0].Tokens, 0)
		newest := samples[len(samples)-100:]
		f.want("the newest hundred are all there", newest[99].Tokens-newest[0].Tokens, 99)
		f.want("the other session", len(f.samples(key("s2"), 0)), 1)
	},
	"the older, the thinner": func(t *testing.T, f *fixture) {
		// For any input, no mark of a compaction is removed while there are other samples to remove. Of two spans of the
		// same length, the older has no more detail.
		const marks, others = MaxSamples / 2, 2 * MaxSamples
		const total, spans = marks + others, 10
		for name, isMark := range map[string]func(i int) bool{
			"marks first":  func(i int) bool { return i < marks },
			"marks last":   func(i int) bool { return i >= others },
			"marks amid":   func(i int) bool { return i >= others/2 && i < others/2+marks },
			"marks mixed":  func(i int) bool { return i%(total/marks) == 0 },
			"marks in two": func(i int) bool { return i < marks/2 || i >= total-marks/2 },
		} {
			s := key(name)
			f.save(newSession(name, 0))
			for i := 0; i < total; {
				var samples []session.Sample
				for end := min(i+100, total); i < end; i++ {
					sample := session.Sample{At: after(i), Tokens: i, Kind: session.SampleUsage}
					if isMark(i) {
						sample.Kind = session.SampleCompaction
					}
					samples = append(samples, sample)
				}
				f.update(s, session.Changes{Samples: samples})
			}
			kept := f.samples(s, 0)
			var count int
			var others, keptOthers [spans]int
			for i := range total {
				if !isMark(i) {
					others[i*spans/total]++
				}
			}
			for _, sample := range kept {
				if sample.Kind == session.SampleCompaction {
					count++
				} else {
					keptOthers[sample.Tokens*spans/total]++
				}
			}
			wanted := 0
			for i := range total {
				if isMark(i) {
					wanted++
				}
			}
			f.want(name+": marks", count, wanted)
			if len(kept) > MaxSamples {
				t.Errorf("%s: %d samples are kept", name, len(kept))
			}
			newest := kept[len(kept)-100:]
			f.want(name+": the newest hundred are all there", newest[99].Tokens-newest[0].Tokens, 99)
			last, thinned := 0.0, false
			for span := range spans {
				if others[span] == 0 {
					continue
				}
				share := float64(keptOthers[span]) / float64(others[span])
				if share < last-0.02 { // the ends of what is halved lie within spans
					t.Errorf("%s: of span %d %.3f is kept, of an older one %.3f", name, span, share, last)
				}
				thinned, last = thinned || share < 0.5, max(share, last)
			}
			if !thinned || last < 0.5 {
				t.Errorf("%s: kept are %v of %v", name, keptOthers, others)
			}
		}
	},
	"compactions alone are bounded too": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		var samples []session.Sample
		for i := range MaxSamples + 500 {
			samples = append(samples, session.Sample{At: after(i), Tokens: i, Kind: session.SampleCompaction})
		}
		f.update(key("s1"), session.Changes{Samples: samples})
		kept := f.samples(key("s1"), 0)
		if len(kept) > MaxSamples || kept[len(kept)-1].Tokens != MaxSamples+499 {
			t.Errorf("%d samples are kept, the last of %d tokens", len(kept), kept[len(kept)-1].Tokens)
		}
	},
}
