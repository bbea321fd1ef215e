//go:build linux && e2e

package claudecode

import (
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, e2e.Host{Name: "claude-code", Program: func(arch string) string {
		return filepath.Join("@anthropic-ai", "claude-code-linux-"+arch, "claude")
	}})
}
