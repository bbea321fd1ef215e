package ui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// LiveSource is where a live screen reads sessions: the core.Service of this machine, or a team's database.
type LiveSource interface {
	Sessions(ctx context.Context, f core.SessionFilter) ([]core.SessionView, error)
	SessionBreakdown(ctx context.Context, key session.Key, progress func(done, total int64)) (core.SessionDetail, error)
	Samples(ctx context.Context, key session.Key, limit int) ([]session.Sample, error)
	Watch(ctx context.Context) <-chan struct{}
}

// LiveOptions configures a live screen.
type LiveOptions struct {
	Source  LiveSource
	Filter  core.SessionFilter
	In      io.Reader
	Out     io.Writer
	Environ []string // of the terminal
	Color   bool
	Sort    Sorting // at first
}

const (
	// liveGather is how long changes are collected after the first, since they come in bursts.
	liveGather = 20 * time.Millisecond
	// liveRetry is the pause after a failed read of the state.
	liveRetry = time.Second
	// liveClock is how often ages are redrawn, without reading the store.
	liveClock = 10 * time.Second
	// liveRefresh is how often sessions are read without a change, since they become idle with time.
	liveRefresh = time.Minute
)

// Live shows sessions on a full screen as they change, until the user quits or ctx ends.
func Live(ctx context.Context, o LiveOptions) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := &live{ctx: ctx, source: o.Source, filter: o.Filter, style: Style{Color: o.Color}, order: o.Sort, changed: o.Source.Watch(ctx)}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ))
	m.send = p.Send
	_, err := p.Run()
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// The messages to the screen, apart from keys.
type (
	sessionsMsg struct { // the sessions were read
		sessions []core.SessionView
		hidden   bool // there are none, and the filter of the screen hides others
		err      error
	}
	changedMsg struct{} // the store changed
	clockMsg   struct{} // redraw the ages
	refreshMsg struct{} // read the sessions again
	detailMsg  struct { // the open session was read
		opened int // counts opened sessions, so that results for an earlier one are dropped
		detail detail
	}
	progressMsg struct{ opened, percent int }
)

// live is the state of the screen.
type live struct {
	ctx     context.Context
	source  LiveSource
	filter  core.SessionFilter
	changed <-chan struct{}
	send    func(tea.Msg)
	style   Style
	height  int

	sessions []core.SessionView // as read
	hidden   bool               // none was read, and the filter hides others
	loaded   bool
	err      error
	shown    []core.SessionView // filtered and sorted
	order    Sorting
	reversed bool
	words    string // the filter
	typing   bool   // the user types the filter
	selected session.Key
	help     bool

	open   *detail // the open session; nil shows the table
	opened int
	close  context.CancelFunc // stops reading the open session
	stale  bool               // it changed while it was read
	scroll int                // lines above the screen
}

// Init reads the sessions and starts to wait for changes.
func (m *live) Init() tea.Cmd {
	return tea.Batch(m.load, m.listen, after(liveClock, clockMsg{}), after(liveRefresh, refreshMsg{}))
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// load reads the sessions.
func (m *live) load() tea.Msg {
	sessions, err := m.source.Sessions(m.ctx, m.filter)
	hidden := false
	if err == nil && len(sessions) == 0 {
		var all []core.SessionView
		all, err = m.source.Sessions(m.ctx, core.SessionFilter{IncludeEnded: true, Limit: 1})
		hidden = len(all) > 0
	}
	return sessionsMsg{sessions, hidden, err}
}

// listen waits for a change of the store.
func (m *live) listen() tea.Msg {
	select {
	case <-m.changed:
	case <-m.ctx.Done():
		return nil
	}
	time.Sleep(liveGather)
	select {
	case <-m.changed: // part of the same burst
	default:
	}
	return changedMsg{}
}

// Update handles a message.
func (m *live) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.style.Width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case changedMsg:
		return m, tea.Batch(m.load, m.listen)
	case clockMsg:
		return m, after(liveClock, clockMsg{})
	case refreshMsg:
		return m, tea.Batch(m.load, after(liveRefresh, refreshMsg{}))
	case sessionsMsg:
		m.loaded, m.err = true, msg.err
		if msg.err != nil {
			return m, after(liveRetry, changedMsg{})
		}
		m.sessions, m.hidden = msg.sessions, msg.hidden
		m.arrange()
		return m, m.refresh()
	case progressMsg:
		if m.open != nil && msg.opened == m.opened {
			m.open.done = msg.percent
		}
	case detailMsg:
		if m.open == nil || msg.opened != m.opened {
			break
		}
		m.open, m.close = &msg.detail, nil
		if m.stale {
			return m, m.read()
		}
	}
	return m, nil
}

// arrange filters and sorts the sessions, and keeps the selection on its session.
func (m *live) arrange() {
	at := m.index()
	m.shown = nil
	for _, s := range m.sessions {
		if matches(s, m.words) {
			m.shown = append(m.shown, s)
		}
	}
	slices.SortStableFunc(m.shown, func(a, b core.SessionView) int {
		if m.reversed {
			a, b = b, a
		}
		return m.order.compare(a, b)
	})
	if m.index() < 0 && len(m.shown) > 0 {
		m.selected = keyOf(m.shown[min(max(at, 0), len(m.shown)-1)])
	}
}

// index returns the index of the selected session, -1 if it is not shown.
func (m *live) index() int {
	return slices.IndexFunc(m.shown, func(s core.SessionView) bool { return keyOf(s) == m.selected })
}

func keyOf(s core.SessionView) session.Key { return session.Key{Host: s.Host, SessionID: s.SessionID} }

// matches reports whether a session contains all words of a filter, in any case.
func matches(s core.SessionView, words string) bool {
	text := strings.ToLower(strings.Join([]string{string(s.Host), s.CWD, s.Model, s.Title, s.SessionID, stateText(s)}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// refresh updates the open session, and reads its record again after a response.
func (m *live) refresh() tea.Cmd {
	if m.open == nil {
		return nil
	}
	for _, s := range m.sessions {
		if keyOf(s) != keyOf(m.open.view.SessionView) {
			continue
		}
		before := m.open.view
		m.open.view.SessionView = s
		if !sameFigures(before.Usage, s.Usage) || before.Compactions != s.Compactions {
			return m.read()
		}
		return nil
	}
	if m.open.view.State == core.StateEnded && !m.filter.IncludeEnded {
		return nil // it was read after it ended
	}
	return m.read() // it has ended or was deleted
}

// sameFigures reports whether two usages are from the same response.
func sameFigures(a, b core.Usage) bool {
	return a.AsOf == b.AsOf || a.AsOf != nil && b.AsOf != nil && a.AsOf.Equal(*b.AsOf) && *a.Tokens == *b.Tokens
}

// read reads the history and the breakdown of the open session, one at a time.
func (m *live) read() tea.Cmd {
	if m.stale = m.close != nil; m.stale {
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.close = cancel
	d, opened := *m.open, m.opened
	return func() tea.Msg {
		defer cancel()
		percent := 0
		view, err := m.source.SessionBreakdown(ctx, keyOf(d.view.SessionView), func(done, total int64) {
			if now := int(done * 100 / max(total, 1)); now != percent {
				percent = now
				m.send(progressMsg{opened, now})
			}
		})
		if err == nil {
			d.view = view
			d.samples, err = m.source.Samples(ctx, keyOf(d.view.SessionView), 0)
		}
		d.read, d.failed = d.read || err == nil, ""
		switch {
		case coded.CodeOf(err) == coded.NotFound:
			d.view.State, d.failed = core.StateEnded, "this session was deleted"
		case err != nil:
			d.failed = err.Error()
		}
		return detailMsg{opened, d}
	}
}
