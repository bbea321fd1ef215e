package rpc

import (
	"runtime"
	"syscall"
)

// wakeWith has the kernel wake this process when its parent pid dies: one that was stopped notices nothing by itself, and
// would be left over. One that runs does not feel the signal. Nothing is asked for where pid is not the parent.
func wakeWith(pid int) {
	if syscall.Getppid() != pid {
		return
	}
	runtime.LockOSThread() // it is the calling thread that asks; Go lets its threads live, those of locked goroutines aside
	defer runtime.UnlockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGCONT), 0)
}
