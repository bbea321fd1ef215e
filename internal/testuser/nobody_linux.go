package testuser

import (
	"runtime"
	"syscall"
	"testing"
)

// WithoutPrivilege runs f without root's right to ignore permissions. On Linux this right belongs to a thread, so f must stay in its
// goroutine.
func WithoutPrivilege(t *testing.T, f func()) {
	t.Helper()
	if syscall.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and let the thread end with the goroutine
		syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
		f()
	}()
	<-done
}
