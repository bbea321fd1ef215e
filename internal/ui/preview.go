package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// sample is a session at a usual moment, as the pictures of the documents show it.
func sample() core.SessionView {
	held, projected, window, point, left := 143_912, 143_912, 200_000, 167_000, 23_088
	percent, shown := 71.96, 72
	level, reported := core.LevelWarning, session.ProvenanceReported
	return core.SessionView{Model: "claude-sonnet-4-6", Usage: core.Usage{
		Tokens: &held, ProjectedTokens: &projected, WindowTokens: window, Percent: &percent, Level: &level, Provenance: &reported, Exact: true,
		CompactionRule: model.CompactsAt, CompactionTokens: &point, ToCompaction: &left,
		Display: core.Display{Tokens: &held, LimitTokens: window, Percent: &shown}, TurnsLeft: &session.Forecast{Low: 3, Mid: 5, High: 9},
	}}
}

// meaning says what each part of the built-in status line is.
var meaning = [][2]string{
	{"{bar} {percent}", "how full the window is; │ is where the host compacts"},
	{"{tokens}/{window}", "tokens in use, and the window"},
	{"{left}", "what is left until then; ~ marks an estimate, ? an unknown figure"},
	{"{forecast}", "how many turns that probably is"},
	{"{model}", "the model"},
}

// StatuslinePreview writes the status line of a usual session in a format, and what its parts mean.
func StatuslinePreview(w io.Writer, format string, l Style) error {
	s := sample()
	values := usageValues(s.Usage, s.Model)
	var b strings.Builder
	b.WriteString("  " + Statusline(s, StatuslineOptions{Format: format, Width: max(l.Width-2, 0), Color: l.Color, Now: time.Now()}) + "\n\n")
	if format != "" {
		b.WriteString("  It has the format of the setting statusline.format.\n")
	} else {
		var rows [][]cell
		for _, part := range meaning {
			rows = append(rows, []cell{{text: "  " + fill(part[0], values, nil)}, {text: part[1], style: faint}})
		}
		b.WriteString(l.clamp(l.grid(rows)))
	}
	_, err := fmt.Fprint(w, b.String())
	return err
}

// SessionLabel describes a session in a few words, for a list of ids.
func SessionLabel(s core.SessionView) string {
	return strings.Join([]string{string(s.Host), orUnknown(projectOf(s)), percentText(s.Usage), string(s.State)}, " · ")
}
