package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/tools/recorded"
)

// lives is what sessions look like to a client while they are replayed entry by entry, through the same reducer as in use.
type lives struct {
	forecasts, known forecasts
	after            []float64 // tokens that the estimate after a compaction is off, until the next report
	share            []float64 // the same for 30 % of the window
	inBand           int       // how often the truth lay in the range of the former
	reports          int
	above            []string // reports that are larger than the window they are shown against
	learned          map[string]session.LearnedWindow
}

// forecasts are those whose compaction came.
type forecasts struct {
	ratios  []float64 // real turns until the compaction, over the forecast
	inRange int
}

// forecast is one that waits for its compaction.
type forecast struct {
	session.Forecast
	turn  int
	point int // where the host was taken to compact, tokens
}

// follow replays one record.
func (l *lives) follow(f recorded.Found, rules session.Rules, entries []session.Entry) {
	if l.learned == nil {
		l.learned = map[string]session.LearnedWindow{}
	}
	one := life{cfg: settings.Default(), rules: rules, host: f.Host, learned: l.learned}
	var waiting []forecast
	compacted := false // and no report since
	for i, e := range entries {
		prompted := slices.ContainsFunc(e.Content, isTyped)
		before := one.view
		one.take(i, e, prompted)
		u := one.view.Usage
		if e.Report != nil && u.Exact && u.Tokens != nil {
			l.reports++
			if *u.Tokens > u.WindowTokens {
				l.above = append(l.above, fmt.Sprintf("%s: %d of %d (%s)", filepath.Base(f.Path), *u.Tokens, u.WindowTokens, u.WindowProvenance))
			}
			if was := before.Usage; compacted && was.Tokens != nil && !was.Exact {
				l.after = append(l.after, math.Abs(float64(*was.ProjectedTokens-*u.Tokens)))
				l.share = append(l.share, math.Abs(0.3*float64(was.WindowTokens)-float64(*u.Tokens)))
				if band := was.Band; band != nil && *u.Tokens >= band.Low && *u.Tokens <= band.High {
					l.inBand++
				}
			}
			compacted = false
		}
		if one.view.Compactions > before.Compactions {
			compacted = true
			l.compacted(f.Host, e.Boundary, before.Usage, waiting, one.turn)
			waiting = nil
		} else if prompted && u.TurnsLeft != nil && u.Exact && u.CompactionTokens != nil {
			waiting = append(waiting, forecast{*u.TurnsLeft, one.turn, *u.CompactionTokens})
		}
	}
}

// compacted takes down the forecasts that waited for a compaction, unless a person asked for it: that was not to be foreseen. Only Claude
// Code's records say so. Of another host, a compaction near the size at which it compacts counts as automatic.
func (l *lives) compacted(host session.Host, b *session.Boundary, before core.Usage, waiting []forecast, turn int) {
	var automatic bool
	var at int
	if b != nil {
		automatic, at = b.Automatic, b.PreTokens
	}
	if at == 0 && before.ProjectedTokens != nil {
		at = *before.ProjectedTokens
	}
	for _, w := range waiting {
		near := at > w.point*9/10 && at < w.point*11/10
		if automatic || near && host != session.HostClaudeCode {
			l.forecasts.add(w, turn)
			if near {
				l.known.add(w, turn)
			}
		}
	}
}

// isTyped reports whether a person typed a prompt: hosts write commands and interruptions in a person's name.
func isTyped(p session.Piece) bool {
	return p.Class == session.PromptText && !strings.HasPrefix(p.Text, "<") && !strings.HasPrefix(p.Text, "[Request interrupted by user")
}

// add takes down how good a forecast was when the compaction came in a turn.
func (f *forecasts) add(w forecast, turn int) {
	turns := turn - w.turn // whole ones; the compaction came in the midst of the next
	f.ratios = append(f.ratios, (float64(turns)+0.5)/math.Max(float64(w.Mid), 0.5))
	if w.Low <= turns+1 && turns <= w.High {
		f.inRange++
	}
}

func (f *forecasts) String() string {
	n := len(f.ratios)
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%d. Real turns over the forecast: median %.1f (10th to 90th percentile %.1f to %.1f); in the stated range %.0f %%",
		n, quantile(f.ratios, 0.5), quantile(f.ratios, 0.1), quantile(f.ratios, 0.9), 100*float64(f.inRange)/float64(n))
}

// life is one session while it is replayed.
type life struct {
	cfg     settings.Config
	rules   session.Rules
	host    session.Host
	learned map[string]session.LearnedWindow // by model
	state   session.State
	view    core.SessionView
	turn    int
}

func (l *life) take(i int, e session.Entry, prompted bool) {
	now := e.At
	if now.IsZero() {
		now = l.state.Session.UpdatedAt
	}
	if now.IsZero() {
		now = time.Unix(1, 0)
	}
	ev := session.Event{Host: l.host, SessionID: "s", Kind: session.Seen}
	if prompted {
		ev.Kind = session.PromptSubmitted
		l.turn++
	}
	e.Offset = int64(i) + 1
	ev.Reading = &session.Reading{From: e.Offset, Cursor: session.Cursor{Device: 1, Inode: 1, Offset: e.Offset + 1}, Entries: []session.Entry{e}}
	if i == 0 {
		l.state.Session.Cursor = session.Cursor{Device: 1, Inode: 1, Offset: 1}
	}
	l.state.Rules, l.state.Learned = l.rules, l.learned[model.Plain(l.state.Session.Model)]
	changes, _ := session.Reduce(l.state, ev, l.cfg, now)
	if changes.Session != nil {
		l.state.Session, l.state.Known = *changes.Session, true
	}
	if changes.Calibration != nil {
		l.state.Calibration = *changes.Calibration
	}
	if l.state.Calibration.Model == "" {
		l.state.Calibration = session.Calibration{Model: l.state.Session.Model, Encoding: session.Encoding}
	}
	if changes.Learned != nil {
		l.learned[changes.Learned.Model] = *changes.Learned
	}
	l.view = core.View(l.state.Snapshot, l.learned[model.Plain(l.state.Session.Model)], l.cfg, l.rules, now)
}

// write prints what was found.
func (l *lives) write(out io.Writer) error {
	var b strings.Builder
	b.WriteString("### Forecasts, compactions and windows\n\n")
	fmt.Fprintf(&b, "- Forecasts before an automatic compaction: %s.\n", l.forecasts.String())
	fmt.Fprintf(&b, "- Those that knew where the host compacts, within a tenth: %s.\n", l.known.String())
	if n := len(l.after); n > 0 {
		fmt.Fprintf(&b, "- Estimates after a compaction: %d, off by %s tokens (median / p90), in the range %.0f %%; 30 %% of the window would be off by %s.\n",
			n, pair(l.after, "%.0f", ""), 100*float64(l.inBand)/float64(n), pair(l.share, "%.0f", ""))
	} else {
		b.WriteString("- Estimates after a compaction: none.\n")
	}
	fmt.Fprintf(&b, "- Reports: %d, of them above the window that they are shown against: %d.\n", l.reports, len(l.above))
	for _, one := range l.above {
		fmt.Fprintf(&b, "  - %s\n", one)
	}
	_, err := io.WriteString(out, b.String()+"\n")
	return err
}
