package test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// residentPeak returns the largest resident memory of a running process since its start, in bytes, or 0 if the system
// does not report it. The figure of an ended process is useless: before exec, it counts its parent's memory.
func residentPeak(t *testing.T, pid int) (size int64) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Log("the memory of a process that runs is read from /proc, which only Linux has: not checked")
		return 0
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	if _, err := fmt.Sscan(rest, &size); err != nil {
		t.Fatal(err)
	}
	return size << 10
}
