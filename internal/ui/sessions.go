package ui

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Sessions writes a table of sessions with their sub-agents. On a narrow screen, columns are shortened or left out.
func Sessions(w io.Writer, sessions []core.SessionView, now time.Time, l Style) error {
	rows, _ := sessionRows(sessions, now, l, 0)
	_, err := io.WriteString(w, l.clamp(l.grid(rows)+workspaceWindows(sessions, l)))
	return err
}

// workspaceWindows returns a line for each file of a workspace that made the window of a session.
func workspaceWindows(sessions []core.SessionView, l Style) string {
	counts := map[string]int{}
	for _, s := range sessions {
		if s.Usage.WindowProvenance == model.WindowFromWorkspace {
			counts[safe(s.Usage.WindowWhy, 160)]++
		}
	}
	var b strings.Builder
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		b.WriteString(l.paint(faint, fmt.Sprintf("window of %s: %s", Count(counts[why], "session"), why)) + "\n")
	}
	return b.String()
}

// sourceHead is the column that is there only where a record told of a session.
const sourceHead = "SOURCE"

// column is one column of the table of sessions.
type column struct {
	name, short string // its header; short is for narrow screens
	right       bool
	session     func(core.SessionView) cell
	agent       func(core.AgentView, core.SessionState) cell // nil is empty
}

// narrower is how much the table is reduced for a narrow screen; each step removes more.
type narrower int

const (
	roomy        narrower = iota
	noTitle               // no titles
	shortHeads            // short headers
	noState               // no state; the age shows it
	shortBars             // bars of five cells
	noID                  // no ids
	shortNames            // short names of hosts, projects and models
	noWindow              // no window beside the tokens
	noModel               // no model
	noBars                // no bars
	noForecast            // no turns left
	noAge                 // no age
	barestNames           // project names of seven cells
	noStepIsLeft          // lines are truncated
)

// sessionRows returns the table for a screen that is taken cells narrower, and the index of each row's session, -1 for the header.
func sessionRows(sessions []core.SessionView, now time.Time, l Style, taken int) ([][]cell, []int) {
	var rows [][]cell
	var of []int
	for step := roomy; step <= noStepIsLeft; step++ {
		rows, of = sessionTable(sessions, sessionColumns(sessions, now, step), step)
		if l.Width == 0 || gridWidth(rows) <= l.Width-taken {
			break
		}
	}
	return rows, of
}

// gridWidth returns the width of the widest line of a grid.
func gridWidth(rows [][]cell) int {
	widest := 0
	for line := range strings.SplitSeq(Style{}.grid(rows), "\n") {
		widest = max(widest, lipgloss.Width(line))
	}
	return widest
}

// sessionTable returns the cells of a table.
func sessionTable(sessions []core.SessionView, columns []column, step narrower) ([][]cell, []int) {
	head := make([]cell, len(columns))
	for i, c := range columns {
		name := c.name
		if step >= shortHeads && c.short != "" {
			name = c.short
		}
		head[i] = cell{text: name, style: faint, right: c.right}
	}
	rows, of := [][]cell{head}, []int{-1}
	add := func(session int, value func(column) cell) {
		row := make([]cell, len(columns))
		for i, c := range columns {
			row[i] = value(c)
			row[i].right = c.right
		}
		rows, of = append(rows, row), append(of, session)
	}
	for i, s := range sessions {
		dim := s.State != core.StateActive
		add(i, func(c column) cell {
			v := c.session(s)
			if dim {
				v.style = v.style.Faint(true)
			}
			return v
		})
		agents := func(all []core.AgentView, state core.SessionState) {
			for _, a := range all {
				add(i, func(c column) cell {
					if c.agent == nil {
						return cell{}
					}
					v := c.agent(a, state)
					if state == core.StateEnded {
						v.style = v.style.Faint(true)
					}
					return v
				})
			}
		}
		agents(s.Agents, core.StateActive)
		agents(s.AgentsEnded, core.StateEnded)
	}
	return rows, of
}

// sessionColumns returns the columns that are shown at a step.
func sessionColumns(sessions []core.SessionView, now time.Time, step narrower) []column {
	plain := func(text string) cell { return cell{text: text} }
	cells, project, model := 10, 24, 28
	if step >= shortHeads {
		project, model = 16, 20
	}
	if step >= shortBars {
		cells = 5
	}
	if step >= shortNames {
		project, model = 12, 13
	}
	if step >= barestNames {
		project = 7
	}
	ids := idWidth(sessions)
	usage := func(show func(core.Usage) cell) (func(core.SessionView) cell, func(core.AgentView, core.SessionState) cell) {
		return func(s core.SessionView) cell { return show(s.Usage) }, func(a core.AgentView, _ core.SessionState) cell { return show(a.Usage) }
	}
	gauge, agentGauge := usage(func(u core.Usage) cell {
		return cell{text: gauge(u, cells), style: levelStyle(u.Level)}
	})
	part, agentPart := usage(func(u core.Usage) cell { return cell{text: percentText(u), style: levelStyle(u.Level)} })
	held, agentHeld := usage(func(u core.Usage) cell {
		if step >= noWindow {
			return plain(estimateMark(u) + tokensOrUnknown(u.Display.Tokens))
		}
		return plain(tokenPair(u))
	})
	left, agentLeft := usage(func(u core.Usage) cell { return plain(toCompaction(u, step >= shortNames)) })
	all := []struct {
		until narrower // the step that removes the column
		column
	}{
		{noStepIsLeft, column{name: "HOST", session: func(s core.SessionView) cell { return plain(hostName(s.Host, step >= shortNames)) }}},
		{noStepIsLeft, column{name: "PROJECT", session: func(s core.SessionView) cell { return plain(fit(orUnknown(projectOf(s)), project)) },
			agent: func(a core.AgentView, _ core.SessionState) cell {
				return plain(fit("└ "+orUnknown(safe(a.AgentType, 40)), project))
			}}},
		{noModel, column{name: "MODEL", session: func(s core.SessionView) cell { return plain(fit(orUnknown(safe(s.Model, 60)), model)) }}},
		{noBars, column{name: "WINDOW", session: gauge, agent: agentGauge}},
		{noStepIsLeft, column{right: true, session: part, agent: agentPart}},
		{noStepIsLeft, column{name: "TOKENS", right: true, session: held, agent: agentHeld}},
		{noStepIsLeft, column{name: "TO COMPACTION", short: "LEFT", right: true, session: func(s core.SessionView) cell {
			if s.Compacting {
				return plain(map[bool]string{false: "compacting", true: "now"}[step >= shortHeads])
			}
			return left(s)
		}, agent: agentLeft}},
		{noForecast, column{name: "TURNS LEFT", short: "TURNS", right: true, session: func(s core.SessionView) cell { return plain(turnsCell(s.Usage, step < shortHeads)) }}},
		{noState, column{name: "STATE", session: func(s core.SessionView) cell { return plain(stateText(s)) },
			agent: func(_ core.AgentView, state core.SessionState) cell { return plain(string(state)) }}},
		{noAge, column{name: "AGE", right: true, session: func(s core.SessionView) cell {
			if step >= noState && s.State == core.StateEnded {
				return plain("ended")
			}
			return plain(age(now.Sub(s.UpdatedAt)))
		}, agent: func(_ core.AgentView, state core.SessionState) cell {
			if step >= noState && state == core.StateEnded {
				return plain("ended")
			}
			return cell{}
		}}},
		{shortHeads, column{name: sourceHead, session: func(s core.SessionView) cell { return plain(string(s.Source)) }}},
		{noID, column{name: "SESSION", session: func(s core.SessionView) cell { return plain(start(safe(s.SessionID, 0), ids)) },
			agent: func(a core.AgentView, _ core.SessionState) cell {
				return cell{text: start(safe(a.AgentID, 0), ids), style: faint}
			}}},
		{noTitle, column{name: "TITLE", session: func(s core.SessionView) cell { return cell{text: fit(safe(s.Title, 0), 40), style: faint} }}},
	}
	titled := slices.ContainsFunc(sessions, func(s core.SessionView) bool { return safe(s.Title, 0) != "" })
	mixed := slices.ContainsFunc(sessions, func(s core.SessionView) bool { return s.Source == core.SourceRecord })
	var columns []column
	for _, c := range all {
		if step < c.until && (c.name != "TITLE" || titled) && (c.name != sourceHead || mixed) || c.until == noStepIsLeft {
			columns = append(columns, c.column)
		}
	}
	return columns
}

// idWidth returns how many characters of an id identify a session or a sub-agent: 8, or more if two ids begin alike.
func idWidth(sessions []core.SessionView) int {
	var ids []string
	for _, s := range sessions {
		ids = append(ids, s.SessionID)
		for _, a := range slices.Concat(s.Agents, s.AgentsEnded) { // their ids may begin as their session's does
			ids = append(ids, a.AgentID)
		}
	}
	slices.Sort(ids)
	width := 8
	for i := 1; i < len(ids); i++ {
		common := 0
		for common < min(len(ids[i-1]), len(ids[i])) && ids[i-1][common] == ids[i][common] {
			common++
		}
		width = max(width, common+1)
	}
	return min(width, 40)
}

// start returns the first cells of an id without an ellipsis, so that it can be copied.
func start(id string, width int) string { return ansi.Truncate(id, width, "") }

// hostName returns the full or the short name of a host.
func hostName(host session.Host, short bool) string {
	if short {
		name, _, _ := strings.Cut(string(host), "-")
		return name
	}
	return string(host)
}

// projectOf returns the name of a session's directory.
func projectOf(s core.SessionView) string {
	if s.CWD == "" {
		return ""
	}
	return safe(path.Base(strings.ReplaceAll(s.CWD, `\`, "/")), 24)
}

func tokenPair(u core.Usage) string {
	return estimateMark(u) + tokensOrUnknown(u.Display.Tokens) + "/" + tokens(u.Display.LimitTokens)
}

// toCompaction writes what is left until the host compacts, or until the window is full or a prompt is refused, with what happens
// then where there is room.
func toCompaction(u core.Usage, short bool) string {
	switch {
	case short, u.CompactionTokens != nil:
		return leftTokens(u)
	case u.CompactionRule == model.CompactsOnRefusal:
		return leftTokens(u) + ", if refused"
	case u.CompactionRule == model.CompactsNever:
		return leftTokens(u) + ", off"
	}
	return leftTokens(u) + ", to full"
}

// turnsCell writes how many turns are left; roomy adds the range, or why there is no figure.
func turnsCell(u core.Usage, roomy bool) string {
	if roomy && u.TurnsLeft == nil && u.Tokens != nil {
		return unknown + " no turn yet"
	}
	return forecastText(u, roomy)
}

// forecastText writes how many turns are left; ranged adds the range.
func forecastText(u core.Usage, ranged bool) string {
	f := u.TurnsLeft
	switch {
	case f == nil:
		return unknown
	case ranged && f.Low != f.High && f.High <= manyTurns:
		return fmt.Sprintf("~%d (%d–%d)", f.Mid, f.Low, f.High)
	}
	return turnsText(f.Mid)
}

// manyTurns is the largest forecast shown as a number: a session that hardly grows has almost unlimited turns left.
const manyTurns = 999

func turnsText(n int) string {
	if n > manyTurns {
		return fmt.Sprintf(">%d", manyTurns)
	}
	return fmt.Sprintf("~%d", n)
}

// nTurns adds the word "turns" to a number from turnsText.
func nTurns(number string) string {
	if number == turnsText(1) {
		return number + " turn"
	}
	return number + " turns"
}

func stateText(s core.SessionView) string {
	if s.Compacting {
		return "compacting"
	}
	return string(s.State)
}
