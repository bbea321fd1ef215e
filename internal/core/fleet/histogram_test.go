package fleet

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestHistogram(t *testing.T) {
	got := Histogram([]int{0, 1_000, 1_001, 3_500, 3_500})
	want := []Bin{{0, 1_000, 2, 0.6}, {1_000, 2_000, 1, 0.4}, {2_000, 3_000, 0, 0.4}, {3_000, 4_000, 2, 0}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Histogram(nil); got == nil || len(got) != 0 {
		t.Errorf("of nothing: %#v", got)
	}
	// A task of exactly the threshold does not exceed it, so it is in the bin below.
	if bins := Histogram([]int{200_000, 200_001}); bins[19].UpTo != 200_000 || bins[19].Tasks != 1 || bins[20].Tasks != 1 {
		t.Errorf("at the threshold: %v", bins)
	}
}

func TestHistogramLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tokens := rapid.SliceOfN(rapid.IntRange(0, 1_000_000_000), 1, 50).Draw(rt, "tokens")
		bins := Histogram(tokens)
		sum := 0
		for i, b := range bins {
			in, over := 0, 0
			for _, n := range tokens {
				if n > b.Above && n <= b.UpTo || i == 0 && n == 0 {
					in++
				}
				if n > b.UpTo {
					over++
				}
			}
			if b.Tasks != in || b.Rest != float64(over)/float64(len(tokens)) || i > 0 && bins[i-1].UpTo != b.Above {
				rt.Fatalf("bin %d is %v, of %d tasks, %d above", i, b, in, over)
			}
			sum += b.Tasks
		}
		if sum != len(tokens) || len(bins) > maxBins || bins[len(bins)-1].Tasks == 0 {
			rt.Fatalf("%d of %d tasks in %d bins", sum, len(tokens), len(bins))
		}
	})
}
