package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// player plays a recording through ctxls and tells what happens.
type player struct {
	rec    recording
	stage  *stage
	client *client
	screen *screen
	speed  float64

	clock   clock
	checker checker
	written int              // lines of the transcript
	seen    core.SessionView // by the client, last
	before  int              // tokens before the compaction that goes on; 0 for none
	turn    bool             // the agent ended its turn and the status line has not been shown since
	took    []time.Duration  // the hooks
	moments []moment
}

// errFailed is that ctxls did not do what the recording calls for; what it was is on the screen.
var errFailed = errors.New("ctxls did not do what the recording calls for")

// introduce says what is to be seen.
func (p *player) introduce(server serverInfo) {
	events := p.rec.events
	length := events[len(events)-1].At.Sub(events[0].At).Round(time.Second)
	host := "Claude Code"
	if i := slices.IndexFunc(events, func(e event) bool { return e.Name == statusLine }); i >= 0 {
		host += " " + text.Sanitize(events[i].read().Version, 20)
	}
	fmt.Fprintf(p.screen.w, "A recorded session of %s, %s long, through %s %s:\n\n", host, length, server.Name, server.Version)
	for _, l := range []line{
		{"ctxls", "what `ctxls hook` tells the agent, word for word"},
		{"client", "what a client of `ctxls serve` sees after it"},
		{"status", "what `ctxls statusline` prints below the prompt"},
	} {
		p.screen.print(-1, l, dim)
	}
	fmt.Fprintln(p.screen.w)
}

// play plays all of it.
func (p *player) play(ctx context.Context) error {
	for _, e := range p.rec.events {
		m, err := p.hook(ctx, e)
		if err != nil {
			return err
		}
		p.checker.see(m)
		p.moments = append(p.moments, m)
		p.tell(m)
	}
	return p.end()
}

// hook does what the host did for one event, and looks what a client sees after it.
func (p *player) hook(ctx context.Context, e event) (moment, error) {
	m := moment{event: e}
	if err := p.wait(ctx, e.At); err != nil {
		return m, err
	}
	p.clock.begin(e.At, time.Now())
	if e.Lines > p.written {
		m.lines, p.written = p.rec.lines[p.written:e.Lines], e.Lines
		redated := make([][]byte, len(m.lines))
		for i, line := range m.lines {
			redated[i] = p.clock.redate(line)
		}
		if err := p.stage.write(redated); err != nil {
			return m, err
		}
	}
	started := time.Now()
	printed, err := p.stage.hook(ctx, e)
	if err != nil {
		return m, err
	}
	p.took = append(p.took, time.Since(started))
	p.clock.end(time.Now())
	if e.Name == statusLine {
		m.shown = strings.TrimSuffix(printed, "\n")
	} else if m.told, err = toAgent(e.Name, printed); err != nil {
		return m, err
	}
	id := struct {
		SessionID string       `json:"sessionId"`
		Host      session.Host `json:"host"`
	}{e.read().SessionID, session.HostClaudeCode}
	return m, p.client.call("session/get", id, &m.seen)
}

// wait waits until it is the hook's turn.
func (p *player) wait(ctx context.Context, recorded time.Time) error {
	// Times in transcripts are whole milliseconds: two of them between any two hooks keep the order of everything.
	due := max(time.Until(p.clock.next(recorded, p.speed)), 2*time.Millisecond)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(due):
		return nil
	}
}

// tell writes what happened at a hook: what the host did, what the agent heard, what clients see when it changed.
func (p *player) tell(m moment) {
	at := m.event.At.Sub(p.rec.events[0].At)
	if l, ok := story(m.event); ok {
		colour := plain
		if l.who == "user" {
			colour = bold
			fmt.Fprintln(p.screen.w)
		}
		p.screen.print(at, l, colour)
		at = -1
	}
	if m.told != "" {
		p.screen.print(at, line{"ctxls", m.told}, cyan)
		at = -1
	}
	u := m.seen.Usage
	if !reflect.DeepEqual(u.Tokens, p.seen.Usage.Tokens) || !reflect.DeepEqual(u.Provenance, p.seen.Usage.Provenance) {
		p.screen.print(at, line{"client", gauge(u, p.cells())}, colourOf(u.Level))
		at = -1
	}
	p.drop(m)
	if m.event.Name == "Stop" || m.event.Name == "PostCompact" {
		p.turn = true
	} else if m.event.Name == statusLine && p.turn {
		p.turn = false
		p.screen.print(at, line{"status", p.screen.fit(text.Sanitize(m.shown, 500))}, dim)
	}
	p.seen = m.seen
}

// drop tells what a compaction freed, once the host reports what is left.
func (p *player) drop(m moment) {
	u := m.seen.Usage
	switch {
	case m.event.Name == "PreCompact" && u.Tokens != nil:
		p.before = *u.Tokens
	case p.before > 0 && m.seen.Compactions > 0 && u.Tokens != nil && *u.Provenance != session.ProvenanceEstimate && *u.Tokens < p.before:
		p.screen.print(-1, line{"", fmt.Sprintf("compaction took it from %d%% to %d%%: %s tokens are free again",
			text.Percent(p.before, u.WindowTokens), text.Percent(*u.Tokens, u.WindowTokens), text.Thousands(p.before-*u.Tokens))}, plain)
		p.before = 0
	}
}

// end tells what stands at the end, and fails when anything was wrong.
func (p *player) end() error {
	var fleet fleet.ContextOptimizationReport
	var list struct {
		Sessions []core.SessionView `json:"sessions"`
	}
	if err := p.client.call("metrics/report", struct{}{}, &fleet); err != nil {
		return err
	}
	if err := p.client.call("session/list", map[string]bool{"includeEnded": true}, &list); err != nil {
		return err
	}
	fmt.Fprintln(p.screen.w)
	for _, s := range list.Sessions {
		p.screen.print(-1, line{"list", summary(s)}, plain)
	}
	p.screen.print(-1, line{"report", report(fleet)}, plain)
	slices.Sort(p.took)
	p.screen.print(-1, line{"calls", fmt.Sprintf("%d hooks and status lines, half of them answered within %d ms; %s, %s",
		len(p.took), p.took[len(p.took)/2].Milliseconds(), counted(p.checker.marks, "mark"), counted(p.checker.reminders, "reminder"))}, plain)

	failures := p.checker.end(p.seen, fleet, len(list.Sessions))
	if log := p.stage.log(); log != "" {
		failures = append(failures, "in the log: "+text.Sanitize(log, 1000))
	}
	if len(failures) == 0 {
		p.screen.print(-1, line{"ok", "every figure, mark and reminder is what the recording calls for"}, green)
		return nil
	}
	for _, f := range failures {
		p.screen.print(-1, line{"WRONG", f}, red)
	}
	return errFailed
}

// cells is how long a bar is drawn, so that a gauge fits a row of 80 characters and uses a longer one.
func (p *player) cells() int { return min(max(p.screen.width-68, 10), 30) }

func colourOf(level *core.Level) string {
	switch {
	case level == nil:
		return dim
	case *level == core.LevelNormal:
		return green
	case *level == core.LevelCritical:
		return red
	}
	return yellow
}
