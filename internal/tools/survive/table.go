package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

func percent(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", (part*200+whole)/(2*whole))
}

func (t *tables) print(w io.Writer) error {
	fmt.Fprintf(w, "%d sessions, %d compactions (%d automatic, %d second or later), %d sessions cut at 60 %%\n\n", t.Sessions, t.Compactions, t.Automatic, t.Later, t.Pseudo)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "CLASS\tN\tNAMED\tNEEDED IN 20\tLOST\tIN 50\tLOST")
	for _, name := range sortedKeys(t.Classes) {
		c := t.Classes[name]
		fmt.Fprintf(tw, "%s\t%d\t%s\t%d\t%d\t%d\t%d\n", name, c.N, percent(c.Named, c.N), c.Needed20, c.Lost20, c.Needed50, c.Lost50)
	}
	fmt.Fprintln(tw)
	fmt.Fprintln(tw, "PATHS AND COMMANDS\tTOKENS\tNEEDED AND LOST\tRECALL\tPRECISION\tBY RECENCY\tPRECISION")
	for _, group := range []struct {
		name string
		list []budget
	}{{"summary visible", t.Visible}, {"no summary", t.Hidden}} {
		for _, b := range group.list {
			fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%s\t%s\n", group.name, b.Tokens, b.Needed, percent(b.Recovered, b.Needed), percent(b.Recovered, b.Given),
				percent(b.RecentRecovered, b.Needed), percent(b.RecentRecovered, b.RecentSeen))
		}
	}
	fmt.Fprintln(tw)
	fmt.Fprintln(tw, "WORDS OF THE USER\tN\tIN THE SUMMARY")
	fmt.Fprintf(tw, "of the window that ended\t%d\t%s\n", t.Words.Current, percent(t.Words.CurrentNamed, t.Words.Current))
	fmt.Fprintf(tw, "of windows before\t%d\t%s\n", t.Words.Older, percent(t.Words.OlderNamed, t.Words.Older))
	fmt.Fprintf(tw, "lost at later compactions\t%d\t%s given back in 400 tokens, %s in 600\n", t.Words.Lost, percent(t.Words.Back400, t.Words.Lost), percent(t.Words.Back600, t.Words.Lost))
	fmt.Fprintln(tw)
	r := t.Rereads
	fmt.Fprintln(tw, "READS IN THE NEXT 20\tN\tREAD BEFORE\tTOKENS A COMPACTION\tOF ALL RESULTS")
	tokens := 0
	if r.Compactions > 0 {
		tokens = r.Characters * 2 / 7 / r.Compactions
	}
	fmt.Fprintf(tw, "\t%d\t%s\t%d\t%s\n", r.Reads, percent(r.Again, r.Reads), tokens, percent(r.Characters, r.Results))
	t.Recall.print(tw)
	return tw.Flush()
}
