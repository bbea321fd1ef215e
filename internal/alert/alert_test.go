package alert

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/store"
)

// stage is a state with watchers of two processes, as far as the store knows them.
type stage struct {
	t       *testing.T
	service *core.Service
	looked  []*atomic.Int64 // up to which revision each process has acted
	mu      sync.Mutex
	acted   []Alert
}

func newStage(t *testing.T, cfg settings.AlertsConfig) *stage {
	path := filepath.Join(t.TempDir(), "state.db")
	st := &stage{t: t}
	all := settings.Default()
	all.Alerts, all.Window.Overrides = cfg, map[string]int{"*": 200_000}
	for range 2 {
		s, err := store.Open(t.Context(), store.Options{URL: path, BusyTimeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		service := &core.Service{Store: s, Adapters: registry.Adapters(nil), Config: func(string) settings.Config { return all }, Now: time.Now, DirExists: func(string) bool { return false }, Log: slog.New(slog.DiscardHandler)}
		st.service = service
		ctx, stop := context.WithCancel(t.Context())
		t.Cleanup(stop)
		looked := new(atomic.Int64)
		st.looked = append(st.looked, looked)
		go Run(ctx, Options{looked: looked.Store, Source: service, Claims: s, Config: func() settings.AlertsConfig { return cfg }, Log: service.Log, Act: func(_ context.Context, a Alert) error {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.acted = append(st.acted, a)
			return nil
		}})
	}
	return st
}

// reports tells of a session's occupancy.
func (st *stage) reports(id, model string, tokens int) {
	st.t.Helper()
	st.handle(session.Event{SessionID: id, Kind: session.UsageReported, Model: model, CWD: "/home/dev/shop",
		Reports: []session.Report{{Tokens: tokens, Provenance: session.ProvenanceReported, Model: model, At: time.Now()}}})
}

func (st *stage) handle(ev session.Event) {
	st.t.Helper()
	ev.Host, ev.Name = session.HostGeneric, string(ev.Kind)
	if _, err := st.service.Handle(st.t.Context(), ev); err != nil {
		st.t.Fatal(err)
	}
}

// watched waits until both processes have looked at all that was told.
func (st *stage) watched() {
	st.t.Helper()
	now, err := st.service.Changed(st.t.Context(), 0)
	if err != nil {
		st.t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		behind := slices.ContainsFunc(st.looked, func(at *atomic.Int64) bool { return at.Load() < now.Revision })
		if !behind {
			return
		}
		if time.Now().After(deadline) {
			st.t.Fatal("a process does not look")
		}
	}
}

// wants waits until the triggers of the alerts are these, in this order. The last of them shows that those before it came once.
func (st *stage) wants(want ...string) {
	st.t.Helper()
	var got []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		st.mu.Lock()
		got = nil
		for _, a := range st.acted {
			got = append(got, a.Trigger)
		}
		st.mu.Unlock()
		if slices.Equal(got, want) {
			return
		}
	}
	st.t.Fatal(cmp.Diff(want, got))
}

// An alert comes once a crossing, whichever of two processes sees it first; again only after the window had room.
func TestAlerts(t *testing.T) {
	st := newStage(t, settings.AlertsConfig{At: []string{"85%", "compaction"}})
	st.reports("one", "gpt-5.5", 1_000) // so that both watch
	st.watched()
	st.reports("one", "claude-sonnet-4-6", 169_999)
	st.reports("one", "claude-sonnet-4-6", 170_000)
	st.wants("85%")
	st.reports("one", "claude-sonnet-4-6", 171_000)
	st.handle(session.Event{SessionID: "one", Kind: session.CompactionDone, CompactedBy: &session.Boundary{ID: "b1", PostTokens: 20_000}})
	st.wants("85%", "compaction")
	st.reports("one", "claude-sonnet-4-6", 30_000)
	st.watched()
	st.reports("one", "claude-sonnet-4-6", 180_000)
	st.wants("85%", "compaction", "85%")
	st.reports("two", "claude-sonnet-4-6", 199_000)
	st.wants("85%", "compaction", "85%", "85%")
	st.mu.Lock()
	defer st.mu.Unlock()
	last := st.acted[3]
	if last.Session.SessionID != "two" || last.Text != "shop (generic): 100% of the context window is in use" {
		t.Errorf("the alert of a session is %+v", last)
	}
}

// Levels in tokens, by model; tokens left; and tokens in the window.
func TestTriggers(t *testing.T) {
	view := func(model string, tokens, window, left int) core.SessionView {
		level := core.LevelOf(tokens, window, left, core.LevelsFor(model, settings.Config{Levels: []int{50, 70, 85}, ModelLevels: map[string][]string{"claude-opus-*": {"300k", "500k", "85%"}}}))
		return core.SessionView{Usage: core.Usage{Tokens: &tokens, WindowTokens: window, ToCompaction: &left, Level: &level}}
	}
	for _, test := range []struct {
		trigger string
		view    core.SessionView
		want    bool
	}{
		{"warning", view("claude-opus-5", 499_999, 1_000_000, 467_001), false},
		{"warning", view("claude-opus-5", 500_000, 1_000_000, 467_000), true},
		{"notice", view("claude-opus-5", 500_000, 1_000_000, 467_000), true},
		{"critical", view("claude-opus-5", 849_999, 1_000_000, 117_001), false},
		{"critical", view("claude-opus-5", 850_000, 1_000_000, 117_000), true},
		{"notice", view("gpt-5.5", 135_999, 272_000, 0o777_777), false},
		{"notice", view("gpt-5.5", 136_000, 272_000, 0o777_777), true},
		{"300k", view("gpt-5.5", 299_999, 1_000_000, 1), false},
		{"300k", view("gpt-5.5", 300_000, 1_000_000, 1), true},
		{"20k left", view("gpt-5.5", 1, 1_000_000, 20_001), false},
		{"20k left", view("gpt-5.5", 1, 1_000_000, 20_000), true},
	} {
		trigger, err := settings.ParseTrigger(test.trigger)
		if err != nil {
			t.Fatal(err)
		}
		if got, known := valueOf(trigger, test.view); !known || got == 1 != test.want {
			t.Errorf("%s of %d: %v, known %v", test.trigger, *test.view.Usage.Tokens, got, known)
		}
	}
	if _, known := valueOf(settings.Trigger{Kind: "mark", Mark: settings.Mark{Percent: 85}}, core.SessionView{}); known {
		t.Error("an unknown figure is known")
	}
}

// The alert over all tasks comes once for all processes.
func TestFleetAlert(t *testing.T) {
	st := newStage(t, settings.AlertsConfig{At: []string{"fleet"}})
	st.reports("one", "gpt-5.5", 1_000)
	st.watched()
	if _, _, err := st.service.RecordTask(t.Context(), "a task", 900_000); err != nil {
		t.Fatal(err)
	}
	st.wants("fleet")
	st.mu.Lock()
	defer st.mu.Unlock()
	if diff := cmp.Diff(&fleet.Alert{Rate: 1, Threshold: 0.1, Tasks: 1}, st.acted[0].Fleet); diff != "" || st.acted[0].Text != "100% of the last 1 tasks exceeded the token threshold" {
		t.Errorf("%s %q", diff, st.acted[0].Text)
	}
}

// Alerts that come at once are acted on one after another, an interval apart. What no longer fits the queue is dropped, and nothing waits.
func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var after []time.Duration
		o := Options{Log: slog.New(slog.DiscardHandler), Config: func() settings.AlertsConfig { return settings.AlertsConfig{IntervalMs: 60_000} }}
		o.Act = func(context.Context, Alert) error {
			after = append(after, time.Since(start))
			return nil
		}
		w := watcher{Options: o}
		queue := make(chan Alert, waiting)
		w.queue = queue
		for range waiting + 5 {
			w.put(Of("85%", core.SessionView{}))
		}
		ctx, stop := context.WithCancel(t.Context())
		go act(ctx, o, queue)
		time.Sleep(time.Hour)
		stop()
		synctest.Wait()
		if len(after) != waiting {
			t.Fatalf("%d alerts were acted on, want %d", len(after), waiting)
		}
		for i, at := range after {
			if want := time.Duration(i) * time.Minute; at != want {
				t.Errorf("alert %d came after %v, want %v", i, at, want)
			}
		}
	})
}

// The command gets the alert on stdin, in the home directory. A notification is shown by the program of the system, to which the text is
// data; one that fails does not keep the other from being done.
func TestAct(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a POSIX shell")
	}
	home, bin := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\nfor word; do printf '%s|' \"$word\"; done >>" + bin + "/seen\n"
	for _, name := range []string{"notify-send", "osascript", "powershell"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	look := func(name string) (string, error) {
		if name == "sh" {
			return exec.LookPath("sh")
		}
		return exec.LookPath(filepath.Join(bin, name))
	}
	alert := Of("85%", core.SessionView{Host: "codex", SessionID: "s1", CWD: "/home/dev/it's; rm -rf $HOME"})
	for system, want := range map[string]string{
		"linux":   "--app-name=ctxls|--|ctxls|" + alert.Text + "|",
		"darwin":  `display notification (item 1 of argv) with title "ctxls"|-e|end run|` + alert.Text + "|",
		"windows": "}|'" + strings.ReplaceAll(alert.Text, "'", "''") + "'|",
	} {
		_ = os.Remove(bin + "/seen")
		cfg := settings.AlertsConfig{Command: "cat >seen.json; echo no room >&2; exit 3", Notify: true}
		err := Actor{Config: func() settings.AlertsConfig { return cfg }, Dir: home, System: system, Look: look}.Act(t.Context(), alert)
		if err == nil || err.Error() != "alerts.command: exit status 3: no room " && err.Error() != "alerts.command: exit status 3: no room" {
			t.Errorf("%s: %v", system, err)
		}
		var got Alert
		data, _ := os.ReadFile(filepath.Join(home, "seen.json"))
		if err := json.Unmarshal(data, &got); err != nil || got.Trigger != "85%" || got.Session.SessionID != "s1" {
			t.Errorf("%s: the command read %s", system, data)
		}
		if seen, _ := os.ReadFile(bin + "/seen"); !strings.HasSuffix(string(seen), want) {
			t.Errorf("%s: the notifier was given %q, want %q at the end", system, seen, want)
		}
	}
	missing := Actor{Config: func() settings.AlertsConfig { return settings.AlertsConfig{Notify: true} }, System: "linux", Look: func(string) (string, error) { return "", exec.ErrNotFound }}
	if err := missing.Act(t.Context(), alert); err == nil || err.Error() != "alerts.notify: there is no notify-send on the PATH" {
		t.Error(err)
	}
}
