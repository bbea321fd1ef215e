package shared

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ProcessStart returns when a process started, as Linux writes it: clock ticks since the boot. It is "" on other systems, and where there
// is no such process. With it, a process is told from a later one with the same number.
func ProcessStart(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name of the program, in parentheses, may hold anything. proc(5) counts the fields from 1; the start is the 22nd.
	const afterName, start = 3, 22
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= start-afterName {
		return ""
	}
	return string(fields[start-afterName])
}

// LockHolder returns the process that holds a lock of flock(2) on a file, without taking the lock; 0 is none, or unknown.
func LockHolder(path string) int {
	inode, ok := inodeOf(path)
	if !ok {
		return 0
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(locks)) { // 1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[5][strings.LastIndexByte(f[5], ':')+1:] != inode {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
