package conversation

import (
	"sync"
	"sync/atomic"
)

// worthSharing is the size in bytes from which messages are counted on all processors: starting the work elsewhere costs as much as
// counting some kilobytes.
const worthSharing = 64 << 10

// inParallel calls do concurrently for each of 0 … n−1. It returns the error with the lowest number, and that number. After an error it
// starts no new call. A panic in do becomes a panic of inParallel.
func inParallel(workers, n int, do func(i int) error) (failed int, err error) {
	if workers == 1 {
		for i := range n {
			if err := do(i); err != nil {
				return i, err
			}
		}
		return 0, nil
	}
	var next atomic.Int64
	var mu sync.Mutex
	var panicked any
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					next.Store(int64(n))
					mu.Lock()
					defer mu.Unlock()
					panicked = p
				}
			}()
			for {
				// Numbers are given out in order: when one fails, all lower ones are running or done.
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if e := do(i); e != nil {
					next.Store(int64(n))
					mu.Lock()
					defer mu.Unlock()
					if err == nil || i < failed {
						failed, err = i, e
					}
					return
				}
			}
		})
	}
	group.Wait()
	if panicked != nil {
		panic(panicked)
	}
	return failed, err
}
