package rpc

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/hook/claudecode"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// noon is when the tests of methods take place. Their clock stands still.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// newService returns a service as `ctxls serve` has it, with real settings, a real host and a real store of its own; only
// the clock is ours.
func newService(t testing.TB) *core.Service {
	s, _ := newConfiguredService(t)
	return s
}

// newConfiguredService returns what puts an editor's settings in force, too.
func newConfiguredService(t testing.TB) (*core.Service, func(json.RawMessage) error) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	loader := config.NewLoader(config.Sources{})
	service := &core.Service{
		Store:     store,
		Adapters:  map[core.Host]core.Adapter{core.HostClaudeCode: claudecode.New(nil)},
		Config:    func(string) core.Config { cfg, _ := loader.For(""); return cfg },
		Now:       func() time.Time { return noon },
		DirExists: func(string) bool { return false },
		Meter:     core.NewMeter(func(name string) (token.Counter, error) { return token.Get(name) }, token.ForModel),
		Log:       slog.New(slog.DiscardHandler),
	}
	return service, func(settings json.RawMessage) error {
		loader.SetClient(config.Overlay{Name: "settings", JSON: settings})
		_, problems := loader.For("")
		var said []string
		for _, p := range problems {
			said = append(said, p.String())
		}
		if said == nil {
			return nil
		}
		return core.Errorf(core.CodeInvalid, "%s", strings.Join(said, "; "))
	}
}
