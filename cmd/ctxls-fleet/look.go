package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ctxls/ctxls/internal/ui"
)

// lookFlags are the flags of commands that draw for people, as those of ctxls.
type lookFlags struct {
	color string
	width int
}

func (l *lookFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&l.color, "color", "auto", "`when` to color: always, never, or auto: on a terminal, unless $NO_COLOR is set")
	fs.IntVar(&l.width, "width", 0, "width of the screen in `characters`; 0 is that of the terminal, and no limit elsewhere")
}

// look returns how standard output is to be drawn on.
func (l *lookFlags) look(a *app) (ui.Style, error) {
	look := ui.Style{Width: l.width}
	screen, _ := a.stdout.(*os.File)
	terminal := screen != nil && term.IsTerminal(int(screen.Fd()))
	if l.width == 0 && terminal {
		look.Width, _, _ = term.GetSize(int(screen.Fd())) // 0 where the terminal does not say
	}
	switch {
	case l.width < 0:
		return look, usageError{fmt.Sprintf("--width: want a number above 0, got %d", l.width)}
	case l.color == "always":
		look.Color = true
	case l.color == "auto":
		look.Color = terminal && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
	case l.color != "never":
		return look, usageError{fmt.Sprintf("--color: want always, never or auto, got %q", l.color)}
	}
	return look, nil
}

// printJSON prints a value for programs. Texts in it were sanitized when they were read.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
