//go:build !linux

package sqlite

import (
	"os"
	"testing"
)

// asSomebody runs f without root's right to ignore permissions.
func asSomebody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	f()
}
