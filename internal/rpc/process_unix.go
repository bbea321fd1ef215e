//go:build unix

package rpc

import (
	"errors"
	"syscall"
)

// processLives reports whether there is a process pid, whoever owns it.
func processLives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
