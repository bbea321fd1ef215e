package survival

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Scope says of which windows words are given back.
type Scope int

// The scopes.
const (
	Earlier Scope = iota // of the windows before the one that the compaction ended: what no summary keeps
	Ended                // of the window that the compaction ended, as far as its summary lacks them
	All                  // both
)

// Words chooses prompts to be quoted: those with the wording of a constraint first, then the newest, as far as budget tokens go, which
// count counts. They come back oldest first.
func (p Past) Words(scope Scope, budget int, count func(string) int, now time.Time) []session.Quote {
	summary := Plain(p.Summary())
	if scope != Earlier && summary == "" { // what the window held may all be in the summary
		return nil
	}
	var constraints, others []Prompt
	for i, prompt := range p.Prompts {
		switch {
		case scope == Earlier && prompt.Window == 0, scope == Ended && prompt.Window > 0:
		case prompt.Window == 0 && i == 0: // hosts keep the last message as it is
		case summary != "" && Holds(summary, prompt.Text):
		case IsConstraint(prompt.Text):
			constraints = append(constraints, prompt)
		default:
			others = append(others, prompt)
		}
	}
	var quotes []session.Quote
	for _, prompt := range append(constraints, others...) {
		q := session.Quote{Text: Quoted(prompt.Text), Age: Age(prompt.At, now)}
		cost := count(q.Line()) + 1 // the line's end
		if cost > budget || LooksSecret(prompt.Text) {
			continue
		}
		budget -= cost
		q.At = prompt.At
		quotes = append(quotes, q)
	}
	slices.SortStableFunc(quotes, func(a, b session.Quote) int { return a.At.Compare(b.At) })
	return quotes
}

// Quoted returns a prompt as it is quoted: on one line, without a quotation mark that could end the quotation.
func Quoted(prompt string) string {
	one := strings.NewReplacer(`"`, "'", "“", "'", "”", "'", "„", "'", "«", "'", "»", "'", "＂", "'").Replace(strings.Join(strings.Fields(text.Sanitize(prompt, 0)), " "))
	return text.Sanitize(one, maxQuote)
}

// Age returns how long ago something was, "" where that is not known.
func Age(at, now time.Time) string {
	if at.IsZero() || at.After(now) {
		return ""
	}
	return text.Ago(now.Sub(at))
}

// Chosen returns the commands to be given back, the likeliest for its price first, as far as budget tokens go.
func (p Past) Chosen(budget float64, now time.Time) []session.Ran {
	summary := p.Summary()
	type candidate struct {
		ran   session.Ran
		whole string
		worth float64
		cost  float64
	}
	var all []candidate
	for _, c := range p.Commands {
		if c.Failing && c.Times < 2 || summary != "" && strings.Contains(summary, c.Text) {
			continue
		}
		ran := session.Ran{Command: strings.ReplaceAll(c.Shown(), "`", "'"), Times: c.Times, Age: Age(c.At, now), Failed: c.Failed}
		cost := Cost(utf8.RuneCountInString(ran.Line()))
		all = append(all, candidate{ran, c.Text, c.score() / cost, cost})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.worth, a.worth) })
	var chosen []session.Ran
	for _, c := range all {
		if c.worth*c.cost < minScore || c.cost > budget || LooksSecret(c.whole) {
			continue
		}
		budget -= c.cost
		chosen = append(chosen, c.ran)
	}
	return chosen
}

// minScore is the chance below which a command is not worth its tokens.
const minScore = 0.03
