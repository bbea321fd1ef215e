package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t testing.TB) core.Store { return open(t, filepath.Join(t.TempDir(), "state.db")) })
}

// open opens the store at path until the test ends. The store must report nothing.
func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: path, Report: func(what string) { t.Errorf("reported: %s", what) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
