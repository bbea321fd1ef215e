//go:build linux && e2e

package codex

import (
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, e2e.Host{Name: "codex", Program: func(arch string) string {
		triple := map[string]string{"x64": "x86_64", "arm64": "aarch64"}[arch] + "-unknown-linux-musl"
		return filepath.Join("@openai", "codex-linux-"+arch, "vendor", triple, "bin", "codex")
	}})
}
