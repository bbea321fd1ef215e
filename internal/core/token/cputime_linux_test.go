package token_test

import (
	"syscall"
	"time"
	"unsafe"
)

// processorTime returns the run time of this thread, to the nanosecond. Getrusage has a resolution of some milliseconds.
// Other programs on the machine do not add to it.
func processorTime() time.Duration {
	const clockThread = 3 // CLOCK_THREAD_CPUTIME_ID
	var now syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThread, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(now.Nano())
}
