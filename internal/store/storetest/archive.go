package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

var archiveTests = map[string]func(*testing.T, *fixture){
	"samples from a number on": func(t *testing.T, f *fixture) {
		archive := f.archive(t)
		f.save(newSession("s1", 0), newSession("s2", 0))
		for i := range 6 {
			f.update(key("s1"), session.Changes{Samples: []session.Sample{{At: after(10 - i), Tokens: i, WindowTokens: 9, Kind: session.SampleUsage}}})
		}
		all, err := archive.SamplesFrom(context.Background(), key("s1"), 0)
		if err != nil || len(all) != 6 {
			t.Fatalf("%d samples, %v", len(all), err)
		}
		for i, s := range all {
			f.want("in the order in which they came", s.Sample, session.Sample{At: after(10 - i), Tokens: i, WindowTokens: 9, Kind: session.SampleUsage})
			if i > 0 && s.Seq <= all[i-1].Seq {
				t.Errorf("number %d comes after %d", s.Seq, all[i-1].Seq)
			}
		}
		rest, err := archive.SamplesFrom(context.Background(), key("s1"), all[2].Seq)
		f.want("error", err, nil)
		f.want("from the third on", rest, all[2:])
		rest, _ = archive.SamplesFrom(context.Background(), key("s1"), all[5].Seq+1)
		f.want("after the last", len(rest), 0)
		none, err := archive.SamplesFrom(context.Background(), key("s2"), 0)
		f.want("another session", fmt.Sprint(len(none), err), "0 <nil>")
	},
	"a later sample has a greater number, however many were forgotten": func(t *testing.T, f *fixture) {
		archive := f.archive(t)
		f.save(newSession("s1", 0))
		last := int64(-1)
		for i := range 3 * MaxSamples / 500 {
			var many []session.Sample
			for j := range 500 {
				many = append(many, session.Sample{At: after(500*i + j), Tokens: 1, WindowTokens: 2, Kind: session.SampleUsage})
			}
			f.update(key("s1"), session.Changes{Samples: many})
			news, err := archive.SamplesFrom(context.Background(), key("s1"), last+1)
			if err != nil || len(news) < 250 || news[len(news)-1].At != after(500*i+499) {
				t.Fatalf("round %d: %d samples, %v", i, len(news), err)
			}
			last = news[len(news)-1].Seq
		}
	},
	"tasks with their places": func(t *testing.T, f *fixture) {
		archive := f.archive(t)
		for i := range 5 {
			f.task(fmt.Sprint("t", i), 10*i, 3)
		}
		before, err := archive.Tasks(context.Background(), 3)
		if err != nil || len(before) != 3 || before[0].Tokens != 20 || before[2].Tokens != 40 {
			t.Fatalf("%v, %v", before, err)
		}
		f.task("t3", 99, 3)
		again, _ := archive.Tasks(context.Background(), 3)
		before[1].Tokens = 99
		f.want("a task that is recorded again", again, before)
	},
}

// archive returns the store as an archive, or skips the test.
func (f *fixture) archive(t *testing.T) core.Archive {
	archive, ok := f.store.(core.Archive)
	if !ok {
		t.Skip("this engine is no archive")
	}
	return archive
}
