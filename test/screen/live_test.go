//go:build !windows

package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// soon is the longest wait on a machine that is busy with other tests.
const soon = 15 * time.Second

// pushed is far below one minute, after which the screen reads the sessions without a signal.
const pushed = 20 * time.Second

// From an empty state to a session that is opened, as a person would go through it in a terminal of the usual size.
func TestLiveScreen(t *testing.T) {
	m := newMachine(t)
	term := m.start("ctxls sessions --watch", 80, 24)
	term.shows(soon, "No sessions yet.", "ctxls setup", "? help")

	// The screen shows changes by other processes without a key.
	m.turn("aaaa-1111", "/home/dev/shop", 60_000)
	term.shows(pushed, "1 session · by last active", "> claude", "30%", "60k/200k", "~107k")
	for _, tokens := range []int{70_000, 80_000, 90_000} {
		m.turn("aaaa-1111", "/home/dev/shop", tokens)
	}
	term.shows(pushed, "45%", " ~7 ")
	m.turn("bbbb-2222", "/home/dev/kernel", 150_000)
	m.run(`{"session_id":"cccc-3333","cwd":"/home/dev/notes","hook_event_name":"SessionStart","source":"startup"}`, "hook", "claude-code")
	screen := term.shows(pushed, "3 sessions", "shop", "kernel", "notes")
	lines := strings.Split(screen, "\n")
	if first := rowOf(lines, "notes"); !strings.Contains(lines[first], "?/200k") && !strings.Contains(lines[first], " ? ") || rowOf(lines, "kernel") < first {
		t.Errorf("the last active is not the first, or unknown is not ?:\n%s", screen)
	}

	// Sorting and filtering.
	term.press("s")
	screen = term.shows(soon, "by fullest")
	lines = strings.Split(screen, "\n")
	if rowOf(lines, "kernel") > rowOf(lines, "shop") || rowOf(lines, "shop") > rowOf(lines, "notes") {
		t.Errorf("not the fullest first, and what is unknown last:\n%s", screen)
	}
	term.press("S")
	term.shows(soon, "by fullest, reversed")
	term.press("S", "/")
	term.press("-l", "SHOP")
	term.shows(soon, "filter: SHOP", "1 of 3 sessions")
	term.press("Enter")
	term.shows(soon, `filter "SHOP"`, "> claude")

	// One session: history with the mark of a compaction, what fills it, its files.
	m.compact("aaaa-1111", "/home/dev/shop")
	m.turn("aaaa-1111", "/home/dev/shop", 40_000)
	term.shows(pushed, "20%")
	term.press("Enter")
	term.shows(soon, "history", "▼", "what fills the window", "system prompt, tools", "esc back")
	term.resize(200, 60)
	term.shows(soon, "Read", "since the last turn began", "files", "src/main.go", "files in use")
	m.turn("aaaa-1111", "/home/dev/shop", 55_000) // it follows what happens
	term.shows(pushed, "28%", "55k/200k", "112k to compaction")
	term.resize(60, 15)
	term.shows(soon, "112k to compaction", "table: claud…")
	term.press("End")
	term.shows(soon, "files in use", "src/main.go")
	term.press("Home")
	term.shows(soon, "claude-code · shop")

	// Back, help, and out; the terminal is as it was.
	term.press("Escape")
	term.shows(soon, "1 of 3 sessions")
	term.press("Escape")
	term.shows(soon, "ctxls · 3 sessions")
	term.press("?")
	term.shows(soon, "keys", "any key goes back")
	term.press("x")
	term.shows(soon, "ctxls · 3 sessions")
	term.press("q")
	screen = term.shows(soon, "ended with 0")
	if strings.Contains(screen, "sessions") {
		t.Errorf("something of the screen stays:\n%s", screen)
	}
}

func rowOf(lines []string, project string) int {
	for i, line := range lines {
		if strings.Contains(line, project) {
			return i
		}
	}
	return -1
}

// On a wide screen every column is there; ended sessions come when asked for.
func TestLiveScreenIsWide(t *testing.T) {
	m := newMachine(t)
	m.turn("aaaa-1111", "/home/dev/shop", 60_000)
	m.turn("bbbb-2222", "/home/dev/kernel", 150_000)
	m.run(`{"session_id":"bbbb-2222","cwd":"/home/dev/kernel","hook_event_name":"SessionEnd","reason":"other"}`, "hook", "claude-code")
	term := m.start("ctxls sessions --watch", 200, 50)
	term.shows(soon, "HOST", "PROJECT", "MODEL", "WINDOW", "TOKENS", "TO COMPACTION", "TURNS LEFT", "STATE", "AGE", "SESSION", "claude-opus-4-6", "aaaa-111")
	term.press("a")
	term.shows(soon, "kernel", "ended")
	term.press("C-c")
	term.shows(soon, "ended with 0")
}

// If an open session ends or is deleted, the screen says so.
func TestLiveScreenOfASessionThatEnds(t *testing.T) {
	m := newMachine(t)
	m.turn("aaaa-1111", "/home/dev/shop", 60_000)
	m.turn("bbbb-2222", "/home/dev/kernel", 150_000)
	term := m.start("ctxls sessions --watch", 100, 30)
	term.shows(soon, "> claude-code  kernel")
	term.press("Enter")
	term.shows(soon, "bbbb-2222", "active", "what fills the window", "not accounted for")
	m.run(`{"session_id":"bbbb-2222","cwd":"/home/dev/kernel","hook_event_name":"SessionEnd","reason":"other"}`, "hook", "claude-code")
	term.shows(pushed, "claude-opus-4-6 · ended · bbbb-2222", "not accounted for")
	term.press("Escape")
	term.shows(soon, "> claude")
	term.press("Enter")
	term.shows(soon, "claude-opus-4-6 · active · aaaa-1111", "system prompt, tools")
	m.run(`{"jsonrpc":"2.0","id":1,"method":"session/deleted","params":{"sessionId":"aaaa-1111"}}`, "serve")
	term.shows(pushed, "claude-opus-4-6 · ended · aaaa-1111", "this session was deleted")
	term.press("q")
	term.shows(soon, "ended with 0")
}

// After a terminal becomes wider, no old text stays beside the new.
func TestLiveScreenIsWidened(t *testing.T) {
	m := newMachine(t)
	m.turn("aaaa-1111", "/home/dev/shop", 60_000)
	term := m.start("ctxls sessions --watch", 60, 24)
	term.shows(soon, "> claude  shop")
	term.press("Enter")
	term.shows(soon, "what fills the window", "system prompt, tools")
	term.resize(100, 24)
	term.shows(soon, "claude-opus-4-6 · active · aaaa-1111")
	term.press("Escape")
	screen := term.shows(soon, "> claude", "AGE")
	if title, _, _ := strings.Cut(screen, "\n"); strings.TrimRight(title, " ") != "ctxls · 1 session · by last active" {
		t.Errorf("something of the session stays:\n%s", screen)
	}
}

// Colors appear in a terminal, and not if the user turned them off. A session's name cannot affect the terminal.
func TestLiveScreenColours(t *testing.T) {
	m := newMachine(t)
	m.turn("aaaa-1111", "/home/dev/shop", 190_000)
	m.run(`{"session_id":"evil","cwd":"/tmp/\u001b[2J\u001b]2;owned\u0007","session_name":"\u001b[?1049l","hook_event_name":"SessionStart","source":"startup"}`, "hook", "claude-code")
	for name, env := range map[string]string{"coloured": "X=", "NO_COLOR": "NO_COLOR=yes", "CLICOLOR": "CLICOLOR=0"} {
		t.Run(name, func(t *testing.T) {
			term := (&machine{t, m.bin, m.home}).start("ctxls sessions --watch", 120, 30, env)
			term.shows(soon, "shop", "95%")
			if title := term.tmux("display-message", "-p", "#{pane_title}"); strings.Contains(title, "owned") {
				t.Errorf("the title of the terminal is %q", title)
			}
			screen := term.tmux("capture-pane", "-p", "-e")
			coloured := strings.Contains(screen, "\x1b[31m") || strings.Contains(screen, "\x1b[1m\x1b[31m") || strings.Contains(screen, "\x1b[1;31m")
			if want := name == "coloured"; coloured != want {
				t.Errorf("red is on the screen: %v, want %v\n%q", coloured, want, screen)
			}
			if !strings.Contains(ansi.Strip(screen), "> claude-code") {
				t.Errorf("what is chosen cannot be told:\n%s", screen)
			}
			term.press("q")
			term.shows(soon, "ended with 0")
		})
	}
}

// Without a terminal, the command says so.
func TestLiveScreenWithoutATerminal(t *testing.T) {
	m := newMachine(t)
	term := m.start("ctxls sessions --watch | cat", 120, 24)
	term.shows(soon, "--watch: standard output is not a terminal", "ctxls serve")
	dumb := m.start("TERM=dumb ctxls sessions --watch", 120, 24)
	dumb.shows(soon, "--watch: this terminal cannot move the cursor (TERM is dumb)", "ended with 1")
}

// A user who types what a host runs is told what is missing.
func TestHookOnATerminal(t *testing.T) {
	m := newMachine(t)
	for _, command := range []string{"ctxls hook claude-code", "ctxls statusline"} {
		term := m.start(command, 120, 24)
		term.shows(soon, "ctxls: nothing came on standard input; 'ctxls help hook' shows how to try it", "ended with 0")
	}
}
