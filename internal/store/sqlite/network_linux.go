package sqlite

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ctxls/ctxls/internal/core/pathname"
)

// networkMagic lists network file systems by the number in f_type of statfs(2) (linux/magic.h and the statfs(2) manual page).
var networkMagic = map[uint32]string{
	0x6969:     "nfs",
	0x517b:     "smb",
	0xfe534d42: "smb2",
	0xff534d42: "cifs",
	0x01021997: "9p",
	0x00c36400: "ceph",
	0x5346414f: "afs",
	0x6b414653: "afs",
	0x73757245: "coda",
	0x0bd00bd0: "lustre",
}

const fuseMagic = 0x65735546

// networkFUSE lists network file systems in user space. Others (encrypted directories, NTFS) are local, unless they lack something.
var networkFUSE = map[string]bool{
	"fuse.sshfs": true, "fuse.rclone": true, "fuse.s3fs": true, "fuse.gcsfuse": true, "fuse.davfs2": true,
	"fuse.glusterfs": true, "fuse.ceph": true, "fuse.curlftpfs": true, "fuse.nfs": true,
}

// network returns the kind of file system of dir if it is on a network or lacks what a state needs, "" if it is fit or unknown.
func network(dir string) string {
	var stat syscall.Statfs_t
	if syscall.Statfs(dir, &stat) != nil {
		return ""
	}
	if magic := uint32(stat.Type); magic != fuseMagic {
		return networkMagic[magic]
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer mounts.Close()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	kind := fuseKind(bufio.NewScanner(mounts), dir)
	if networkFUSE[kind] {
		return kind
	}
	probe, err := os.CreateTemp(dir, ".ctxls-probe-*")
	if err != nil {
		return ""
	}
	defer os.Remove(probe.Name())
	defer probe.Close()
	if lacking := lacks(probe); lacking != "" {
		return kind + " without " + lacking
	}
	return ""
}

// lacks returns what the file system of a file lacks that processes need to share a state, "" if it lacks nothing.
func lacks(file *os.File) string {
	fd := int(file.Fd())
	if syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) != nil ||
		syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}) != nil {
		return "file locks"
	}
	memory, err := syscall.Mmap(fd, 0, 1, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if errors.Is(err, syscall.ENODEV) {
		return "shared memory"
	}
	if err == nil {
		_ = syscall.Munmap(memory)
	}
	return ""
}

// fuseKind finds the mount of dir in the lines of proc_pid_mountinfo(5) and returns its type.
func fuseKind(mounts *bufio.Scanner, dir string) string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	longest, kind := -1, ""
	for mounts.Scan() {
		before, after, ok := strings.Cut(mounts.Text(), " - ")
		fields, types := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(types) < 1 {
			continue
		}
		point := unescape.Replace(fields[4])
		if len(point) >= longest && pathname.Within(point, dir, false) { // of two mounts at one point, the later one counts
			longest, kind = len(point), types[0]
		}
	}
	return kind
}
