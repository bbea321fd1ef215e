package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/host/claudecode"
)

// lives is what sessions look like to a client while they are replayed entry by entry, through the same reducer as in use.
type lives struct {
	ratios             []float64 // real turns until a compaction, over the forecast
	forecasts, inRange int
	afterOurs          []float64 // tokens that the estimate after a compaction is off, until the next report
	afterShare         []float64 // the same for 30 % of the window
	inBand             int       // how often the truth lay in the band of the former
	reports            int
	above              []string // reports that are larger than the window they are shown against
}

// forecast is one that waits for its compaction.
type forecast struct {
	session.Forecast
	turn int
}

// follow replays one transcript.
func (l *lives) follow(name string, entries []session.Entry) {
	adapter := claudecode.New(nil)
	rules, cfg := adapter.Rules(), settings.Default()
	share := cfg
	percent := 30
	share.Compaction.PostCompactionPercent = &percent
	ours, theirs := life{cfg: cfg, rules: rules}, life{cfg: share, rules: rules}
	var waiting []forecast
	for i, e := range entries {
		prompted := slices.ContainsFunc(e.Content, func(p session.Piece) bool { return p.Class == session.PromptText })
		before, known := ours.view, ours.view.Usage.Tokens != nil
		guess := theirs.view.Usage.Tokens
		ours.take(i, e, prompted)
		theirs.take(i, e, prompted)
		u := ours.view.Usage
		if e.Report != nil && u.Exact && u.Tokens != nil {
			l.reports++
			if *u.Tokens > u.WindowTokens {
				l.above = append(l.above, fmt.Sprintf("%s: %d of %d (%s)", name, *u.Tokens, u.WindowTokens, u.WindowProvenance))
			}
			if known && !before.Usage.Exact && before.Compactions > 0 && guess != nil {
				l.afterOurs = append(l.afterOurs, math.Abs(float64(*before.Usage.ProjectedTokens-*u.Tokens)))
				l.afterShare = append(l.afterShare, math.Abs(float64(*guess-*u.Tokens)))
				if band := before.Usage.Band; band != nil && *u.Tokens >= band.Low && *u.Tokens <= band.High {
					l.inBand++
				}
			}
		}
		if ours.view.Compactions > before.Compactions {
			l.happened(waiting, ours.turn, e)
			waiting = nil
		} else if prompted && u.TurnsLeft != nil && u.Exact {
			waiting = append(waiting, forecast{*u.TurnsLeft, ours.turn})
		}
	}
}

// happened takes down how good the forecasts before a compaction were. One that a person asked for was not to be foreseen.
func (l *lives) happened(waiting []forecast, turn int, e session.Entry) {
	if e.Boundary == nil || !e.Boundary.Automatic {
		return
	}
	for _, f := range waiting {
		turns := turn - f.turn // whole ones; the compaction came in the midst of the next
		l.forecasts++
		l.ratios = append(l.ratios, (float64(turns)+0.5)/math.Max(float64(f.Mid), 0.5))
		if f.Low <= turns+1 && turns <= f.High {
			l.inRange++
		}
	}
}

// life is one session while it is replayed.
type life struct {
	cfg   settings.Config
	rules session.Rules
	state session.State
	view  core.SessionView
	turn  int
}

func (l *life) take(i int, e session.Entry, prompted bool) {
	now := e.At
	if now.IsZero() {
		now = l.state.Session.UpdatedAt
	}
	if now.IsZero() {
		now = time.Unix(1, 0)
	}
	ev := session.Event{Host: session.HostClaudeCode, SessionID: "s", Kind: session.Seen}
	if prompted {
		ev.Kind = session.PromptSubmitted
		l.turn++
	}
	e.Offset = int64(i) + 1
	ev.Reading = &session.Reading{From: e.Offset, Cursor: session.Cursor{Device: 1, Inode: 1, Offset: e.Offset + 1}, Entries: []session.Entry{e}}
	if i == 0 {
		l.state.Session.Cursor = session.Cursor{Device: 1, Inode: 1, Offset: 1}
	}
	l.state.Rules = l.rules
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
	l.view = core.View(l.state.Snapshot, session.LearnedWindow{}, l.cfg, l.rules, now)
}

// write prints what was found.
func (l *lives) write(out io.Writer) error {
	var b strings.Builder
	b.WriteString("\n### Forecast, compactions and windows\n\n")
	if l.forecasts > 0 {
		fmt.Fprintf(&b, "Forecasts before an automatic compaction: %d. Real turns over the forecast: median %.1f (10th to 90th percentile %.1f to %.1f); in the stated range %.0f %%.\n\n",
			l.forecasts, quantile(l.ratios, 0.5), quantile(l.ratios, 0.1), quantile(l.ratios, 0.9), 100*float64(l.inRange)/float64(l.forecasts))
	} else {
		b.WriteString("Forecasts before an automatic compaction: none.\n\n")
	}
	if n := len(l.afterOurs); n > 0 {
		fmt.Fprintf(&b, "Estimates after a compaction: %d, off by %s tokens (median / p90), in the band %.0f %%; 30 %% of the window would be off by %s.\n\n",
			n, pair(l.afterOurs, "%.0f", ""), 100*float64(l.inBand)/float64(n), pair(l.afterShare, "%.0f", ""))
	} else {
		b.WriteString("Estimates after a compaction: none.\n\n")
	}
	fmt.Fprintf(&b, "Reports: %d, of them above the window that they are shown against: %d.\n", l.reports, len(l.above))
	for _, one := range l.above {
		fmt.Fprintf(&b, "- %s\n", one)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
