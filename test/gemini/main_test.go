//go:build linux && e2e

package gemini

import (
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, e2e.Host{Name: "gemini-cli", Program: func(string) string {
		return filepath.Join("@google", "gemini-cli", "bundle", "gemini.js")
	}})
}
