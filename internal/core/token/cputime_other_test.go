//go:build !linux

package token_test

import "time"

var started = time.Now()

// processorTime is the time that has passed: only Linux tells a thread's own.
func processorTime() time.Duration { return time.Since(started) }
