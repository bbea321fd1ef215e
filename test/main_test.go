package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// built is the directory of the programs, after the first test that needs them has built them.
var built string

var build = sync.OnceValue(func() (err error) {
	if built, err = os.MkdirTemp("", "ctxls-test-"); err != nil {
		return err
	}
	for name, pkg := range map[string]string{"ctxls": "../cmd/ctxls", "baseline": "../internal/tools/bench/baseline", "timed": "../internal/tools/bench/timed"} {
		cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(built, name), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return nil
})

// buildAll returns the directory of the programs.
func buildAll(tb testing.TB) string {
	tb.Helper()
	if err := build(); err != nil {
		tb.Fatal(err)
	}
	return built
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}
