package ui

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Terminal returns the terminal behind an output, or nil.
func Terminal(out io.Writer) *os.File {
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// StyleFor returns how to draw on an output, from the flags --color ("always", "never" or "auto") and --width (cells; 0 is the width of
// the terminal, or no limit). An error says which flag is wrong and what is allowed.
func StyleFor(out io.Writer, getenv func(string) string, color string, width int) (Style, error) {
	style := Style{Width: width}
	screen := Terminal(out)
	if width == 0 && screen != nil {
		style.Width, _, _ = term.GetSize(int(screen.Fd())) // 0 if the terminal does not say
	}
	switch {
	case width < 0:
		return style, fmt.Errorf("--width: want a number above 0, got %d", width)
	case color == "always":
		style.Color = true
	case color == "auto":
		style.Color = colored(screen, getenv)
	case color != "never":
		return style, fmt.Errorf("--color: want always, never or auto, got %q", color)
	}
	return style, nil
}

// colored decides whether to use colors, by https://no-color.org and https://bixense.com/clicolors.
func colored(screen *os.File, getenv func(string) string) bool {
	switch force := getenv("CLICOLOR_FORCE"); {
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case getenv("TERM") == "dumb", getenv("CLICOLOR") == "0":
		return false
	}
	return screen != nil
}
