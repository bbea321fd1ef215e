//go:build unix

package rpc

import (
	"errors"
	"syscall"
)

// ProcessLives reports whether there is a process pid, of any user.
func ProcessLives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
