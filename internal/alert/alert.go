// Package alert acts when a window fills up: it watches the sessions and runs a command of the user's, or shows a notification.
//
// It runs in a process that stays: a server, a live screen, or ctxls alerts. It never runs in a hook, for which a host waits. Several
// processes may watch one state: a claim in the store decides which of them acts.
package alert

import (
	"context"
	"log/slog"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
)

const (
	// gather is how long changes are collected after the first, since they come in bursts.
	gather = 20 * time.Millisecond
	// retry is the pause after the state could not be read.
	retry = time.Second
	// waiting bounds the alerts that wait for their turn. Later ones are logged and dropped.
	waiting = 32
)

// Source is what alerts need of a core.Service.
type Source interface {
	Watch(ctx context.Context) <-chan struct{}
	Changed(ctx context.Context, since int64) (core.ChangeSet, error)
	Alert(ctx context.Context, gate fleet.AlertGate) (fleet.Alert, error)
}

// Claimer decides which process acts; a core.Store does.
type Claimer interface {
	Claim(ctx context.Context, c core.Claim) (rose bool, err error)
}

// Options configures Run.
type Options struct {
	Source Source
	Claims Claimer
	// Config returns the user's settings at present.
	Config func() settings.AlertsConfig
	// Act acts on an alert. It returns when that is done.
	Act func(ctx context.Context, a Alert) error
	Log *slog.Logger

	looked func(revision int64) // for tests: all changes up to there were looked at
}

// Alert is what a command is told.
type Alert struct {
	Trigger string            `json:"trigger"`           // as in the settings
	Text    string            `json:"text"`              // the same for people, sanitized
	Session *core.SessionView `json:"session,omitempty"` // whose window it is; not there with trigger fleet
	Fleet   *fleet.Alert      `json:"fleet,omitempty"`   // with trigger fleet only
}

// Of returns the alert of a session.
func Of(trigger string, view core.SessionView) Alert {
	return Alert{Trigger: trigger, Text: sentence(trigger, view), Session: &view}
}

// Run acts on alerts until ctx ends. A window that is over a mark when Run begins is no alert: only a rise after that is. It returns at
// once if the settings name no alert.
func Run(ctx context.Context, o Options) {
	if len(o.Config().At) == 0 {
		return
	}
	queue := make(chan Alert, waiting)
	go act(ctx, o, queue)
	w := watcher{Options: o, queue: queue, seen: map[seenKey]int64{}}
	wake := o.Source.Watch(ctx)
	for {
		pause := gather
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			o.Log.Warn("alerts: the state could not be read", "error", err)
			pause = retry
		} else {
			select {
			case <-wake:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// act acts on the alerts of a queue, one at a time.
func act(ctx context.Context, o Options, queue <-chan Alert) {
	for {
		select {
		case a := <-queue:
			if err := o.Act(ctx, a); err != nil && ctx.Err() == nil {
				o.Log.Warn("an alert failed", "trigger", a.Trigger, "error", err)
			}
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(o.Config().Interval()):
		case <-ctx.Done():
			return
		}
	}
}

// watcher looks at sessions as they change.
type watcher struct {
	Options
	queue chan<- Alert
	since int64
	seen  map[seenKey]int64 // the values of the triggers, to claim only what is new
}

type seenKey struct {
	session.Key
	trigger string
}

// look claims the triggers of all sessions that have changed.
func (w *watcher) look(ctx context.Context) error {
	news, err := w.Source.Changed(ctx, w.since)
	if err != nil {
		return err
	}
	for _, name := range w.Config().At {
		t, err := settings.ParseTrigger(name)
		if err != nil {
			continue // the settings were checked when they were read
		}
		if t.Kind == "fleet" {
			if err := w.lookAtFleet(ctx, name, news.Alert); err != nil {
				return err
			}
			continue
		}
		for _, view := range news.Views {
			if err := w.lookAt(ctx, t, view); err != nil {
				return err
			}
		}
	}
	for _, key := range news.Removed {
		for seen := range w.seen {
			if seen.Key == key {
				delete(w.seen, seen)
			}
		}
	}
	w.since = news.Revision
	if w.looked != nil {
		w.looked(w.since)
	}
	return nil
}

func (w *watcher) lookAt(ctx context.Context, t settings.Trigger, view core.SessionView) error {
	value, known := valueOf(t, view)
	if !known {
		return nil
	}
	key := session.Key{Host: view.Host, SessionID: view.SessionID}
	// A count of compactions tells how many there were, not that there is a new one.
	first := w.since != 0 && t.Kind != "compaction"
	rose, err := w.claim(ctx, core.Claim{Key: key, Name: t.Name, Value: value, At: view.UpdatedAt, First: first})
	if rose {
		w.put(Of(t.Name, view))
	}
	return err
}

func (w *watcher) lookAtFleet(ctx context.Context, name string, gate fleet.AlertGate) error {
	if gate.At.IsZero() {
		return nil
	}
	rose, err := w.claim(ctx, core.Claim{Name: name, Value: gate.At.UnixMilli(), At: gate.At, First: w.since != 0})
	if err != nil || !rose {
		return err
	}
	alert, err := w.Source.Alert(ctx, gate)
	if err == nil {
		w.put(Alert{Trigger: name, Text: fleetSentence(alert), Fleet: &alert})
	}
	return err
}

func (w *watcher) claim(ctx context.Context, c core.Claim) (rose bool, err error) {
	key := seenKey{c.Key, c.Name}
	if value, known := w.seen[key]; known && value == c.Value {
		return false, nil
	}
	if rose, err = w.Claims.Claim(ctx, c); err == nil {
		w.seen[key] = c.Value
	}
	return rose, err
}

func (w *watcher) put(a Alert) {
	select {
	case w.queue <- a:
	default:
		w.Log.Warn("too many alerts wait; this one is dropped", "trigger", a.Trigger, "text", a.Text)
	}
}

// valueOf returns the value of a trigger: 1 where the mark is reached, or a count. Figures that are unknown tell nothing, and neither
// do those from before a compaction that goes on.
func valueOf(t settings.Trigger, view core.SessionView) (value int64, known bool) {
	u := view.Usage
	if t.Kind == "compaction" {
		return int64(view.Compactions), true
	}
	if u.Tokens == nil || view.Compacting {
		return 0, false
	}
	reached := false
	switch t.Kind {
	case "level":
		reached = rank[*u.Level] >= rank[core.Level(t.Level)]
	case "mark":
		reached = *u.Tokens >= t.Mark.In(u.WindowTokens)
	case "left":
		if u.ToCompaction == nil {
			return 0, false
		}
		reached = *u.ToCompaction <= t.Left
	}
	if reached {
		value = 1
	}
	return value, true
}

var rank = map[core.Level]int{core.LevelNormal: 0, core.LevelNotice: 1, core.LevelWarning: 2, core.LevelCritical: 3}
