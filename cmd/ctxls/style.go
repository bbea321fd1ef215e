package main

import (
	"github.com/spf13/pflag"

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
	style, err := ui.StyleFor(a.stdout, a.getenv, l.color, l.width)
	if err != nil {
		return style, usageError{err.Error()}
	}
	return style, nil
}
