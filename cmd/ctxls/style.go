package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ctxls/ctxls/internal/ui"
)

// styleFlags are the flags of commands that draw on a terminal.
type styleFlags struct {
	color string
	width int
}

func (l *styleFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&l.color, "color", "auto", "`when` to use colors: always, never, or auto (on a terminal, unless $NO_COLOR is set)")
	fs.IntVar(&l.width, "width", 0, "width of the output in `characters`; 0 is the width of the terminal, or no limit")
}

// style returns how to draw on standard output.
func (l *styleFlags) style(a *app) (ui.Style, error) {
	style := ui.Style{Width: a.screenWidth()}
	if l.width != 0 {
		style.Width = l.width
	}
	if style.Width < 0 {
		return style, usageError{fmt.Sprintf("--width: want a number above 0, got %d", l.width)}
	}
	switch l.color {
	case "always":
		style.Color = true
	case "never":
	case "auto":
		style.Color = a.screenColored()
	default:
		return style, usageError{fmt.Sprintf("--color: want always, never or auto, got %q", l.color)}
	}
	return style, nil
}

var errNoTerminal = errors.New("standard output is not a terminal")

// screen returns standard output if it is a terminal.
func (a *app) screen() (*os.File, error) {
	if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f, nil
	}
	return nil, errNoTerminal
}

// screenWidth returns the width of the terminal, 0 if standard output is not one.
func (a *app) screenWidth() int {
	f, err := a.screen()
	if err != nil {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// screenColored decides whether to use colors, by https://no-color.org and https://bixense.com/clicolors.
func (a *app) screenColored() bool {
	switch force := a.getenv("CLICOLOR_FORCE"); {
	case a.getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case a.getenv("TERM") == "dumb", a.getenv("CLICOLOR") == "0":
		return false
	}
	_, err := a.screen()
	return err == nil
}
