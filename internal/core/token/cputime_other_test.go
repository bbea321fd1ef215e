//go:build !linux

package token_test

import "time"

var started = time.Now()

// processorTime returns the elapsed time, since only Linux reports the time of a thread.
func processorTime() time.Duration { return time.Since(started) }
