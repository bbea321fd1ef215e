package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// wantWake waits for a signal after which done reports true for the store.
func wantWake(t *testing.T, wake <-chan struct{}, done func() bool) (signals int) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case <-wake:
			if signals++; done() {
				return signals
			}
		case <-limit:
			t.Fatal("nobody is woken")
		}
	}
}

func operations(t *testing.T, s *Store) int {
	t.Helper()
	fleet, err := s.Fleet(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Trim.Operations
}

// The last commit of another process wakes the watcher, even directly after the commit before.
func TestOtherProcessesWake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	wake := s.Watch(t.Context())
	for want := 1; want <= 5; want++ {
		together(t, 1, "open", path)
		wantWake(t, wake, func() bool { return operations(t, s) == want })
	}
	done := make(chan bool)
	go func() {
		together(t, 4, "count", path, "100", "event")
		close(done)
	}()
	signals := wantWake(t, wake, func() bool {
		found, err := s.FindSessions(t.Context(), "0191c2f4-7a2e-7c31-9f0a-2d6c5b1e8a44")
		return err == nil && len(found) == 1 && found[0].Turns == 400
	})
	if signals > 400 {
		t.Errorf("%d signals for 400 commits", signals)
	}
	<-done
}

// Without file events, as on systems that lack them, polling finds every change.
func TestWatchWithoutEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	seen, err := s.sighting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wake := make(chan struct{}, 1)
	go s.watch(t.Context(), seen, nil, wake)
	for want := 1; want <= 3; want++ {
		together(t, 1, "open", path)
		wantWake(t, wake, func() bool { return operations(t, s) == want })
	}
}

// Without file events, polling is frequent after changes and rare after a quiet time.
func TestPollAfter(t *testing.T) {
	for quiet, want := range map[time.Duration]time.Duration{
		0: fastPoll, time.Second: fastPoll, 2 * time.Second: 100 * time.Millisecond, 10 * time.Second: 500 * time.Millisecond,
		15 * time.Second: restPoll, time.Hour: restPoll, -time.Hour: fastPoll,
	} {
		if got := pollAfter(quiet); got != want {
			t.Errorf("after %v of quiet it is looked at after %v, want %v", quiet, got, want)
		}
	}
}

// A file system may accept the request for events and send none. After the first change that only polling found, the
// watcher polls as if there were no events.
func TestWatchWithEventsThatNeverCome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	seen, err := s.sighting(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	deaf, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	wake := make(chan struct{}, 1)
	events := deaf.Events
	deaf.Events = make(chan fsnotify.Event) // the channel never receives an event
	go func() {
		for range events {
		}
	}()
	go s.watch(t.Context(), seen, deaf, wake)
	best := time.Hour
	for want := 1; want <= 3; want++ {
		time.Sleep(slowPoll / 2) // the polls after a change are over
		together(t, 1, "open", path)
		start := time.Now()
		wantWake(t, wake, func() bool { return operations(t, s) == want })
		best = min(best, time.Since(start))
	}
	if best > slowPoll/2 {
		t.Errorf("a change is seen after %v at the best", best)
	}
}

// The deletion of a watched state is a change, and so are updates of the state that replaces it.
func TestWatchOverAReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	together(t, 1, "open", path)
	wake := s.Watch(t.Context())
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !os.IsNotExist(err) {
			t.Skip("an open file cannot be deleted here: ", err)
		}
	}
	wantWake(t, wake, func() bool { return operations(t, s) == 0 })
	together(t, 1, "open", path)
	wantWake(t, wake, func() bool { return operations(t, s) == 1 })
}

// BenchmarkRestWithoutEvents measures the share of a core, in percent, that watching takes without file events and after
// a long time without changes.
//
//	go test -run '^$' -bench RestWithoutEvents -benchtime 1x ./internal/store/sqlite
func BenchmarkRestWithoutEvents(b *testing.B) {
	const rest = 20 * time.Second
	s := open(b, filepath.Join(b.TempDir(), "state.db"))
	seen, err := s.sighting(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	go s.watch(b.Context(), seen, nil, make(chan struct{}, 1))
	time.Sleep(time.Duration(float64(restPoll) / quietShare)) // the poll interval is at its maximum
	var share float64
	for b.Loop() {
		start, before := time.Now(), processTime(b)
		time.Sleep(rest)
		share = 100 * float64(processTime(b)-before) / float64(time.Since(start))
	}
	b.ReportMetric(share, "percent")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkSighting measures the cost of one poll. An idle server polls every two seconds, and more often without file
// events.
func BenchmarkSighting(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "state.db"))
	for b.Loop() {
		if _, err := s.sighting(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
