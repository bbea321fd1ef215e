package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ctxls/ctxls/internal/ui"
)

// lookFlags are the flags of commands that draw for people.
type lookFlags struct {
	color string
	width int
}

func (l *lookFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&l.color, "color", "auto", "`when` to colour: always, never, or auto: on a terminal, unless $NO_COLOR is set")
	fs.IntVar(&l.width, "width", 0, "width of the screen in `characters`; 0 is that of the terminal, and no limit elsewhere")
}

// look returns how standard output is to be drawn on.
func (l *lookFlags) look(a *app) (ui.Look, error) {
	look := ui.Look{Width: a.screenWidth()}
	if l.width != 0 {
		look.Width = l.width
	}
	if look.Width < 0 {
		return look, usageError{fmt.Sprintf("--width: want a number above 0, got %d", l.width)}
	}
	switch l.color {
	case "always":
		look.Color = true
	case "never":
	case "auto":
		look.Color = a.screenColored()
	default:
		return look, usageError{fmt.Sprintf("--color: want always, never or auto, got %q", l.color)}
	}
	return look, nil
}

var errNoTerminal = errors.New("standard output is no terminal")

// screen returns the terminal that standard output is.
func (a *app) screen() (*os.File, error) {
	if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f, nil
	}
	return nil, errNoTerminal
}

// screenWidth returns the width of the terminal, 0 where there is none.
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

// screenColored decides on colours by https://no-color.org and https://bixense.com/clicolors.
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
