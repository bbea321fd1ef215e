//go:build !linux

package testuser

import (
	"os"
	"testing"
)

// WithoutPrivilege runs f without root's right to ignore permissions. Here only an ordinary user can.
func WithoutPrivilege(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root ignores permissions")
	}
	f()
}
