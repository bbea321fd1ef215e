package ui

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/text"
)

// keysHelp lists the keys.
var keysHelp = [][2]string{
	{"↑ ↓  k j", "choose a session, or scroll"}, {"enter", "open the session: history, what fills its window, files in use"}, {"esc", "back to the table; clear the filter"},
	{"s  S", "change the order; reverse it"}, {"/", "filter by words in host, directory, model, title, id or state"},
	{"a", "show or hide ended sessions"}, {"?", "this help"}, {"q  ctrl+c", "quit"},
}

// key handles a key.
func (m *live) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.typing:
		m.typed(name, msg.Text)
		return nil
	case m.help:
		m.help = false
		if name == "q" {
			return tea.Quit
		}
		return nil
	}
	switch name {
	case "q":
		return tea.Quit
	case "?":
		m.help = true
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup", "ctrl+b":
		m.move(-max(m.height-4, 1))
	case "pgdown", "ctrl+f", "space":
		m.move(max(m.height-4, 1))
	case "home", "g":
		m.move(-1 << 30)
	case "end", "G":
		m.move(1 << 30)
	case "esc", "backspace", "left", "h":
		if m.open != nil {
			m.leave()
		} else if name == "esc" {
			m.words = ""
			m.arrange()
		}
	}
	if m.open != nil {
		return nil
	}
	switch name {
	case "enter", "right", "l":
		return m.enter()
	case "s":
		m.order = (m.order + 1) % sortings
		m.arrange()
	case "S":
		m.reversed = !m.reversed
		m.arrange()
	case "/":
		m.typing = true
	case "a":
		m.filter.IncludeEnded = !m.filter.IncludeEnded
		return m.load
	}
	return nil
}

// maxWords is the longest filter, in characters.
const maxWords = 200

// typed handles a key while the user types the filter.
func (m *live) typed(name, txt string) {
	switch name {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.words = false, ""
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(m.words)
		m.words = m.words[:len(m.words)-size]
	case "ctrl+u":
		m.words = ""
	default:
		if txt = text.Sanitize(txt, 0); utf8.RuneCountInString(m.words+txt) <= maxWords {
			m.words += txt
		}
	}
	m.arrange()
}

// move moves the selection in the table, or scrolls an open session, by a number of lines.
func (m *live) move(by int) {
	if m.open != nil {
		m.scroll = max(m.scroll+by, 0) // openLines limits it to the text
		return
	}
	if len(m.shown) > 0 {
		m.selected = keyOf(m.shown[min(max(m.index()+by, 0), len(m.shown)-1)])
	}
}

// enter opens the selected session.
func (m *live) enter() tea.Cmd {
	at := m.index()
	if at < 0 {
		return nil
	}
	m.open, m.scroll = &detail{view: core.SessionDetail{SessionView: m.shown[at]}}, 0
	m.opened++
	return m.read()
}

// leave returns to the table.
func (m *live) leave() {
	if m.close != nil {
		m.close()
	}
	m.open, m.close, m.stale = nil, nil, false
}
