package ui

import (
	"fmt"
	"io"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Recall writes what a search found, each line below one that says where it is from.
func Recall(w io.Writer, out core.Recollection, l Style) error {
	var b strings.Builder
	switch {
	case !out.Compacted:
		b.WriteString("The session was not compacted: everything that was said in it is still in its window.\n")
	case len(out.Lines) == 0 && out.Omitted == 0:
		b.WriteString("Nothing before the last compaction matches.\n")
	}
	for i, line := range out.Lines {
		if i > 0 {
			b.WriteString("\n")
		}
		what := line.Role
		if line.Tool != "" {
			what += " " + safe(line.Tool, 40)
		}
		when := "?"
		if line.At != nil {
			when = line.At.Local().Format("2006-01-02 15:04")
		}
		b.WriteString(l.paint(strong, fmt.Sprintf("%s · %s · %s tokens", what, when, text.Thousands(line.Tokens))) + "\n")
		b.WriteString(strings.TrimRight(text.SanitizeLines(line.Text), "\n") + "\n")
	}
	if out.Omitted > 0 {
		fmt.Fprintf(&b, "\n%s more lines match; --limit and --max-tokens show more\n", text.Thousands(out.Omitted))
	}
	_, err := io.WriteString(w, l.clamp(b.String()))
	return err
}
