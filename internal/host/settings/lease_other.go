//go:build !linux

package settings

// lease is not available here: see lease_linux.go.
type lease struct{}

func leaseOf(string, bool) *lease { return nil }
func (*lease) awaited() bool      { return false }
func (*lease) fill([]byte)        {}
func (*lease) release()           {}
