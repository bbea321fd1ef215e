package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// patience is the longest wait of a test. It measures nothing, and ends tests that would hang.
const patience = 30 * time.Second

// woken waits until a watcher is notified and the store has changes, and returns the newest revision.
func (f *fixture) woken(wake <-chan struct{}, since int64) int64 {
	f.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case <-wake:
			if feed := f.changed(since); feed.Revision != since {
				return feed.Revision
			}
		case <-limit:
			f.t.Fatalf("a change after revision %d woke nobody", since)
		}
	}
}

var watchTests = map[string]func(*testing.T, *fixture){
	"every change wakes every watcher": func(t *testing.T, f *fixture) {
		wakes := []<-chan struct{}{f.store.Watch(t.Context()), f.store.Watch(t.Context())}
		last := f.changed(0).Revision
		for i := range 20 {
			f.save(newSession("s1", i))
			next := int64(0)
			for _, wake := range wakes {
				next = f.woken(wake, last)
			}
			last = next
		}
		f.update(key("s1"), session.Changes{Delete: true})
		f.woken(wakes[0], last)
	},
	"what changed after Watch is seen, and what came before may be": func(t *testing.T, f *fixture) {
		f.save(newSession("s1", 0))
		last := f.changed(0).Revision
		wake := f.store.Watch(t.Context())
		f.save(newSession("s1", 1))
		f.woken(wake, last)
	},
	"a burst is one signal for who comes late": func(t *testing.T, f *fixture) {
		wake := f.store.Watch(t.Context())
		for i := range 100 {
			f.save(newSession("s1", i))
		}
		if got := cap(wake); got > 1 {
			t.Errorf("%d signals may wait", got)
		}
		last := f.changed(0).Revision
		f.save(newSession("s1", 100))
		f.woken(wake, last)
	},
	"a watcher whose time is over is woken no more": func(t *testing.T, f *fixture) {
		ctx, stop := context.WithCancel(t.Context())
		ended, wake := f.store.Watch(ctx), f.store.Watch(t.Context())
		last := f.changed(0).Revision
		stop()
		for i := range 3 {
			f.save(newSession("s1", i))
			last = f.woken(wake, last)
		}
		signals := 0
		for range cap(ended) + 1 {
			select {
			case <-ended:
				signals++
			default:
			}
		}
		if signals > 1 {
			t.Errorf("%d signals after the end", signals)
		}
	},
}
