package sqlite

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestFUSEMounts(t *testing.T) {
	const mounts = `22 1 0:21 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:50 / /home/ada/far rw,nosuid shared:2 - fuse.sshfs ada@far:/home rw
41 22 0:51 / /home/ada/safe rw shared:3 - fuse.gocryptfs /home/ada/.safe rw
42 40 0:52 / /home/ada/far/near rw - fuseblk /dev/sdb1 rw
43 22 0:53 / /mnt/two\040words rw master:4 - fuse.rclone far: rw
torn line
`
	for dir, want := range map[string]string{
		"/home/ada":            "ext4",
		"/home/ada/far":        "fuse.sshfs",
		"/home/ada/far/x/y":    "fuse.sshfs",
		"/home/ada/farther":    "ext4",
		"/home/ada/far/near/x": "fuseblk",
		"/home/ada/safe/x":     "fuse.gocryptfs",
		"/mnt/two words/x":     "fuse.rclone",
	} {
		if got := fuseKind(bufio.NewScanner(strings.NewReader(mounts)), dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// Some file systems in user space have no locks, or cannot map files. Here a closed file cannot be locked, and a message queue not be mapped.
func TestWhatAFileSystemLacks(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := lacks(file); got != "" {
		t.Errorf("a common file lacks %q", got)
	}
	file.Close()
	if got := lacks(file); got != "file locks" {
		t.Errorf("a file that cannot be locked lacks %q", got)
	}
	dir := t.TempDir()
	if err := syscall.Mount("mqueue", dir, "mqueue", 0, ""); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("mounting a file system without shared memory: ", err)
		}
		t.Skip("mounting a file system without shared memory: ", err)
	}
	defer syscall.Unmount(dir, 0)
	if file, err = os.CreateTemp(dir, ""); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if got := lacks(file); got != "shared memory" {
		t.Errorf("a message queue lacks %q", got)
	}
}
