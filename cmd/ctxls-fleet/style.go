package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/ui"
)

// styleFlags are the flags of commands that draw on a terminal, as those of ctxls.
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

// printJSON prints a value for programs. Texts in it were sanitized when they were read.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
