//go:build linux && e2e

package opencode

import (
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, e2e.Host{Name: "opencode", Program: func(arch string) string {
		return filepath.Join("opencode-linux-"+arch, "bin", "opencode")
	}})
}
