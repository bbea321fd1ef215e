package ui

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Compactions writes a row for each compaction, the oldest first, and the sums below.
func Compactions(w io.Writer, list []survival.Entry, now time.Time) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "no compaction is on record")
		return err
	}
	if err := table(w, func(row func(...string)) {
		row("WHEN", "BY", "BEFORE", "AFTER", "FILES NAMED", "COMMANDS", "WORDS", "GIVEN BACK", "USED", "READ AGAIN")
		for _, c := range list {
			when, by := unknown, "user"
			if c.At != nil {
				when = ago(now.Sub(*c.At))
			}
			if c.Automatic {
				by = "host"
			}
			if c.MidTurn {
				by += ", in a turn"
			}
			row(when, by, orUnknownTokens(c.PreTokens), orUnknownTokens(c.PostTokens), ofAll(c.Paths), ofAll(c.Commands), ofAll(c.Words),
				strconv.Itoa(c.Paths.Given+c.Commands.Given+c.Words.Given), usedOf(c), fmt.Sprintf("%d of %d, %s", c.Rereads.Again, c.Rereads.Reads, tokens(c.Rereads.Tokens)))
		}
	}); err != nil {
		return err
	}
	t := survival.Sum(list)
	_, err := fmt.Fprintf(w, "\n%s · each costs %s tokens of files that are read again\ngiven back: %s of the files, %s of the commands were used in the next %d responses; the use of the words is unknown\n",
		Count(len(list), "compaction"), text.Thousands(t.RereadTokens), shareOf(t.PathsUsed, t.PathsGiven), shareOf(t.CommandsUsed, t.CommandsGiven), survival.Horizon)
	return err
}

func orUnknownTokens(n *int) string {
	if n == nil {
		return unknown
	}
	return tokens(*n)
}

// ofAll says how many of a class a summary named.
func ofAll(c survival.Class) string { return fmt.Sprintf("%d/%d", c.Named, c.Known) }

// usedOf says how many files and commands that were given back were used.
func usedOf(c survival.Entry) string {
	if c.Paths.Used == nil || c.Commands.Used == nil {
		return unknown
	}
	return strconv.Itoa(*c.Paths.Used + *c.Commands.Used)
}

func shareOf(part, whole int) string {
	if whole == 0 {
		return unknown
	}
	return fmt.Sprintf("%d%%", text.Percent(part, whole))
}
