//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakBytes returns the most memory that a process had resident.
func peakBytes(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return usage.Maxrss
	}
	return usage.Maxrss * 1024
}
