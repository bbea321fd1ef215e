//go:build !linux

package shared

// inodeOf finds nothing: only Linux lists locks.
func inodeOf(string) (string, bool) { return "", false }
