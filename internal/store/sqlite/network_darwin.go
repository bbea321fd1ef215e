package sqlite

import "syscall"

// mntLocal is MNT_LOCAL of sys/mount.h: the file system is stored on this machine.
const mntLocal = 0x1000

// network returns the kind of network file system of dir, "" if it is local or unknown.
func network(dir string) string {
	var stat syscall.Statfs_t
	if syscall.Statfs(dir, &stat) != nil || stat.Flags&mntLocal != 0 {
		return ""
	}
	kind := make([]byte, 0, len(stat.Fstypename))
	for _, c := range stat.Fstypename {
		if c == 0 {
			break
		}
		kind = append(kind, byte(c))
	}
	return string(kind)
}
