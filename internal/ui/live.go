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

// LiveOptions says what a live screen shows, and where.
type LiveOptions struct {
	Source  LiveSource
	Filter  core.SessionFilter
	In      io.Reader
	Out     io.Writer
	Environ []string // of the terminal
	Color   bool
}

const (
	// liveGather is how long changes are gathered after the first, since they come in bursts; as for clients of the server.
	liveGather = 20 * time.Millisecond
	// liveRetry is the pause before a state that could not be read is read again.
	liveRetry = time.Second
	// liveClock is how often ages are drawn anew. The store is not asked for that.
	liveClock = 10 * time.Second
	// liveLook is how often sessions are looked at though nothing was saved: with time they become idle.
	liveLook = time.Minute
)

// Live shows the sessions of this machine on a screen of its own, as they change, until somebody quits or ctx ends.
func Live(ctx context.Context, o LiveOptions) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := &live{ctx: ctx, source: o.Source, filter: o.Filter, look: Look{Color: o.Color}, changed: o.Source.Watch(ctx)}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ))
	m.send = p.Send
	_, err := p.Run()
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// What comes to the screen beside keys.
type (
	sessionsMsg struct { // the sessions were read
		sessions []core.SessionView
		err      error
	}
	changedMsg struct{} // something was saved, by any process
	clockMsg   struct{} // time goes on
	lookMsg    struct{} // look at the sessions anyway
	detailMsg  struct { // the session that was opened was read
		opened int // how many were opened before: what was read of an earlier one is dropped
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
	look    Look
	height  int

	sessions []core.SessionView // as read
	loaded   bool
	err      error
	shown    []core.SessionView // filtered and sorted
	order    sorting
	reversed bool
	words    string // that sessions must hold
	typing   bool   // the words are being typed
	selected session.Key
	help     bool

	open   *detail // of the session that is open; nil shows the table
	opened int
	close  context.CancelFunc // stops reading it
	stale  bool               // it changed while it was being read
	scroll int                // lines that lie above the screen
}

// Init reads the sessions and begins to listen.
func (m *live) Init() tea.Cmd {
	return tea.Batch(m.load, m.listen, after(liveClock, clockMsg{}), after(liveLook, lookMsg{}))
}

func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// load reads the sessions.
func (m *live) load() tea.Msg {
	sessions, err := m.source.Sessions(m.ctx, m.filter)
	return sessionsMsg{sessions, err}
}

// listen waits until something is saved.
func (m *live) listen() tea.Msg {
	select {
	case <-m.changed:
	case <-m.ctx.Done():
		return nil
	}
	time.Sleep(liveGather)
	select {
	case <-m.changed: // gathered
	default:
	}
	return changedMsg{}
}

// Update takes what comes.
func (m *live) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.look.Width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case changedMsg:
		return m, tea.Batch(m.load, m.listen)
	case clockMsg:
		return m, after(liveClock, clockMsg{})
	case lookMsg:
		return m, tea.Batch(m.load, after(liveLook, lookMsg{}))
	case sessionsMsg:
		m.loaded, m.err = true, msg.err
		if msg.err != nil {
			return m, after(liveRetry, changedMsg{})
		}
		m.sessions = msg.sessions
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

// arrange filters and sorts what was read, and keeps the selection on its session.
func (m *live) arrange() {
	at := m.index()
	m.shown = nil
	for _, s := range m.sessions {
		if holds(s, m.words) {
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

// index returns the place of the selected session, -1 where it is not shown.
func (m *live) index() int {
	return slices.IndexFunc(m.shown, func(s core.SessionView) bool { return keyOf(s) == m.selected })
}

func keyOf(s core.SessionView) session.Key { return session.Key{Host: s.Host, SessionID: s.SessionID} }

// holds reports whether a session holds all of some words, in any case.
func holds(s core.SessionView, words string) bool {
	text := strings.ToLower(strings.Join([]string{string(s.Host), s.CWD, s.Model, s.Title, s.SessionID, stateText(s)}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// refresh shows what was read of the open session, and reads its record again when there has been a response since.
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
		return nil // it is read once after it has ended
	}
	return m.read() // it has ended, or is forgotten
}

// sameFigures reports whether two usages are of the same response.
func sameFigures(a, b core.Usage) bool {
	return a.AsOf == b.AsOf || a.AsOf != nil && b.AsOf != nil && a.AsOf.Equal(*b.AsOf) && *a.Tokens == *b.Tokens
}

// read reads history and breakdown of the open session, one reading at a time.
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
			d.view.State, d.failed = core.StateEnded, "this session is forgotten"
		case err != nil:
			d.failed = err.Error()
		}
		return detailMsg{opened, d}
	}
}
