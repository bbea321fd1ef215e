//go:build !windows

package shared

import "os"

// Open opens a file for reading.
func Open(path string) (*os.File, error) { return os.Open(path) }

// InTheWay reports whether err may pass by itself, because another program has the file open just now. Here that keeps no program from renaming it.
func InTheWay(error) bool { return false }
