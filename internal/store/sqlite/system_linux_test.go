package sqlite

import (
	"bufio"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asSomebody runs f without root's right to ignore permissions. On Linux this right belongs to a thread, so f must stay
// in its goroutine.
func asSomebody(t *testing.T, f func()) {
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

func TestFUSEMounts(t *testing.T) {
	const mounts = `22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:50 / /home/ada/far rw,nosuid shared:2 - fuse.sshfs ada@far:/home rw
41 22 0:51 / /home/ada/safe rw shared:3 - fuse.gocryptfs /home/ada/.safe rw
42 40 0:52 / /home/ada/far/near rw - fuseblk /dev/sdb1 rw
43 22 0:53 / /mnt/two\040words rw master:4 - fuse.rclone far: rw
torn line
`
	for dir, want := range map[string]string{
		"/home/ada":            "",
		"/home/ada/far":        "fuse.sshfs",
		"/home/ada/far/x/y":    "fuse.sshfs",
		"/home/ada/farther":    "",
		"/home/ada/far/near/x": "",
		"/home/ada/safe/x":     "",
		"/mnt/two words/x":     "fuse.rclone",
	} {
		if got := fuseKind(bufio.NewScanner(strings.NewReader(mounts)), dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
