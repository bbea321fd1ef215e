package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/plan"
)

// shownPlanItems is how many of the largest items a plan lists; the rest is summed up.
const shownPlanItems = 15

// kindNames are the kinds for users.
var kindNames = map[plan.Kind]string{
	plan.Duplicate: "duplicate", plan.Superseded: "superseded", plan.Thinking: "thinking", plan.Failed: "failed", plan.Binary: "binary",
	plan.Stale: "stale", plan.Bulky: "bulky",
}

// Plan writes what can go of a conversation: the kinds, the largest items, and the advice.
func Plan(w io.Writer, r plan.Report, l Style) error {
	_, err := io.WriteString(w, planText(r, l))
	return err
}

func planText(r plan.Report, l Style) string {
	var b strings.Builder
	b.WriteString(l.paint(strong, fmt.Sprintf("%s of %s tokens can go: %s", tokens(r.FreeableTokens), tokens(r.Tokens), Count(len(r.Items), "item"))) + "\n")
	if len(r.Items) > 0 {
		b.WriteString("\n" + kindsText(r, l) + "\n" + itemsText(r, l))
		b.WriteString("\n" + fmt.Sprintf("left after a cut: %s · sent again: %s · %s", tokens(r.AfterTokens), tokens(r.Cache.RewrittenTokens), paysText(r.Cache)) + "\n")
	}
	b.WriteString("\n" + r.Advice + "\n")
	return l.clamp(b.String())
}

// kindsText draws a bar for each kind.
func kindsText(r plan.Report, l Style) string {
	sums := map[plan.Kind]int{}
	for _, it := range r.Items {
		sums[it.Kind] += it.Tokens
	}
	t := bars{whole: r.Tokens, cells: l.barCells(nameWidth)}
	for _, sum := range sums {
		t.most = max(t.most, sum)
	}
	for _, kind := range plan.Kinds {
		if sums[kind] > 0 {
			t.add(kindNames[kind], sums[kind])
		}
	}
	t.rows[0][0].text += strings.Repeat(" ", max(0, nameWidth-len(t.rows[0][0].text)))
	return l.grid(padBars(t), nameWidth)
}

// itemsText lists the largest items.
func itemsText(r plan.Report, l Style) string {
	items := slices.Clone(r.Items)
	slices.SortStableFunc(items, func(a, b plan.Item) int { return b.Tokens - a.Tokens })
	var rows [][]cell
	for _, it := range items[:min(len(items), shownPlanItems)] {
		what := orUnknown(strings.TrimSpace(safe(it.Where.Tool, nameWidth) + " " + fitEnd(safe(it.Where.Path, 0), 40)))
		if it.Where.Tool == "" {
			what = fmt.Sprintf("turn %d", it.Where.Turn)
		}
		rows = append(rows, []cell{{text: tokens(it.Tokens), right: true}, {text: kindNames[it.Kind]}, {text: what}, {text: safe(it.Why, 120), style: faint}})
	}
	text := l.grid(rows)
	if rest := len(items) - shownPlanItems; rest > 0 {
		text += l.paint(faint, fmt.Sprintf("and %d more, %s", rest, tokens(plan.Freed(items[shownPlanItems:])))) + "\n"
	}
	return text
}

// paysText says what a cut costs.
func paysText(c plan.Cache) string {
	switch {
	case c.Cold:
		return "the cache is cold"
	case c.BreakEvenRequests == nil:
		return "never pays for itself"
	}
	return fmt.Sprintf("pays for itself after %s, about %d more are expected", Count(*c.BreakEvenRequests, "request"), c.ExpectedRequests)
}

// PlanLine writes the one line about a plan below a breakdown: how much could go, and the command that lists it. args are the arguments
// that name the session. It writes nothing where nothing can go, or where that is not known.
func PlanLine(w io.Writer, r *plan.Report, args []string, l Style) error {
	if r == nil || r.FreeableTokens == 0 {
		return nil
	}
	command := strings.Join(append([]string{"ctxls plan"}, args...), " ")
	_, err := io.WriteString(w, l.clamp("\n"+l.paint(strong, tokens(r.FreeableTokens)+" tokens could go")+": "+safe(command, 80)+"\n"))
	return err
}
