//go:build !linux

package rpc

// wakeWith does nothing: only Linux tells a process of its parent's death.
func wakeWith(int) {}
