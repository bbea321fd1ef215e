package test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// residentPeak returns the most memory that a running process had resident since it was started, in bytes; 0 where the system does not
// say. What is told of a process that ended is no use: until it begins its program, it counts as large as the one that started it.
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
