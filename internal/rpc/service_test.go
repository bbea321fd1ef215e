package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/host/claudecode"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/recall"
	"github.com/ctxls/ctxls/internal/rpc/transport"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// noon is the time in the tests of methods. Their clock stands still.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// newService returns a service like the one of `ctxls serve`, with real settings, a real host and its own real store.
// Only the clock is a fake.
func newService(t testing.TB) *core.Service {
	s, _ := newConfiguredService(t)
	return s
}

// newConfiguredService also returns the function that applies an editor's settings.
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
		Adapters:  adapters(),
		Config:    func(string) settings.Config { cfg, _ := loader.For(""); return cfg },
		Now:       func() time.Time { return noon },
		DirExists: func(string) bool { return false },
		Meter:     conversation.NewMeter(func(name string) (token.Counter, error) { return token.Get(name) }, token.ForModel),
		Log:       slog.New(slog.DiscardHandler),
		Historian: func(session.Host) core.Historian { return claudecode.Records{} },
		Index:     recall.New(filepath.Join(t.TempDir(), "recall")),
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
		return coded.Errorf(coded.Invalid, "%s", strings.Join(said, "; "))
	}
}

// A script that sends its calls without waiting gets a list that includes its earlier events.
func TestOverviewSeesWhatWasToldBefore(t *testing.T) {
	p := connect(t, transport.Line, Options{Service: newService(t)})
	for range 20 {
		const told = 8
		var all strings.Builder
		for i := range told {
			fmt.Fprintf(&all, `{"jsonrpc":"2.0","id":%d,"method":"hook/handle","params":{"host":"claude-code","payload":{"session_id":"s%[1]d","cwd":"/p","hook_event_name":"Stop"}}}`+"\n", i)
		}
		all.WriteString(`{"jsonrpc":"2.0","id":"list","method":"session/list"}` + "\n")
		p.In.WriteString(all.String())
		for range told + 1 {
			r := p.reply()
			if r.ID == "list" && strings.Count(string(r.Result), `"sessionId"`) != told {
				t.Fatalf("the list holds %d of %d sessions", strings.Count(string(r.Result), `"sessionId"`), told)
			}
		}
		for i := range told {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/deleted","params":{"sessionId":"s%[1]d"}}`, i))
			p.reply()
		}
	}
}

// While another process locks the state, a call that changes it is unavailable, and the server continues.
func TestStateThatIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	open := func() *sqlite.Store {
		store, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, BusyTimeout: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}
	service := newService(t)
	service.Store = open()
	p := connect(t, transport.Line, Options{Service: service})
	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	other := open()
	go func() {
		done <- other.Update(context.Background(), core.Query{}, func(session.State) session.Changes {
			close(held)
			<-release
			return session.Changes{}
		})
	}()
	<-held
	const record = `{"jsonrpc":"2.0","id":1,"method":"metrics/record","params":{"taskId":"a","tokens":1}}`
	p.send(record)
	if r := p.reply(); r.Error == nil || r.Error.Code != -32011 || r.Error.Data.Code != "unavailable" {
		t.Errorf("while it is held: %+v", r)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p.send(record)
	if r := p.reply(); r.Error != nil {
		t.Errorf("afterwards: %+v", r.Error)
	}
}

// adapters returns the adapters of a fixed set of hosts, so that a new host does not change the message for an unknown
// host.
func adapters() map[session.Host]core.Adapter {
	all := registry.Adapters(nil)
	maps.DeleteFunc(all, func(host session.Host, _ core.Adapter) bool {
		return !slices.Contains([]session.Host{"claude-code", "codex", "gemini-cli", "generic", "opencode"}, host)
	})
	return all
}
