package plan

import (
	"fmt"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// Report is a plan: what can go, what that frees, and what it costs. Making one changes nothing.
type Report struct {
	// Items are what can go: all that was found, or, with a target, the first of them that reach it. They stand in the order
	// in which a trim takes them.
	Items          []Item `json:"items"`
	Tokens         int    `json:"tokens"`         // of the conversation as it is
	FreeableTokens int    `json:"freeableTokens"` // what the items free together
	AfterTokens    int    `json:"afterTokens"`    // what would be left
	Cache          Cache  `json:"cache"`          // what it costs to cut all items at once, now
	// Advice is one sentence with figures, for people: cut now, or wait, and why.
	Advice string `json:"advice"`
}

// PriceOptions are what a caller knows better than ctxls. A nil member is unknown.
type PriceOptions struct {
	CacheRead  *float64 `json:"cacheRead,omitempty"`  // as multiples of the price of plain input, 0 or above
	CacheWrite *float64 `json:"cacheWrite,omitempty"` // above 0
	TTLSeconds *int     `json:"ttlSeconds,omitempty"` // above 0
}

// Apply returns prices with the options in them. Errors carry CodeInvalid and name the member.
func (o *PriceOptions) Apply(p Prices) (Prices, error) {
	if o == nil {
		return p, nil
	}
	given := func() { p.Source, p.AsOf = "the caller", "" }
	if o.CacheRead != nil {
		if *o.CacheRead < 0 {
			return p, coded.Field("prices.cacheRead", "expected a number, 0 or above, got %v", *o.CacheRead)
		}
		given()
		p.CacheRead = *o.CacheRead
	}
	if o.CacheWrite != nil {
		if *o.CacheWrite <= 0 {
			return p, coded.Field("prices.cacheWrite", "expected a number above 0, got %v", *o.CacheWrite)
		}
		given()
		p.CacheWrite = *o.CacheWrite
	}
	if o.TTLSeconds != nil {
		if *o.TTLSeconds <= 0 {
			return p, coded.Field("prices.ttlSeconds", "expected a whole number above 0, got %d", *o.TTLSeconds)
		}
		given()
		p.TTLSeconds = *o.TTLSeconds
	}
	if p.CacheWrite < p.CacheRead {
		return p, coded.Field("prices.cacheWrite", "expected a number not below cacheRead, %v, got %v", p.CacheRead, p.CacheWrite)
	}
	return p, nil
}

// Report makes a plan of what was found. A target above 0 takes no more items than it needs.
func (f Found) Report(target int, s Situation) Report {
	items := f.Items
	if target > 0 {
		items = f.UpTo(target)
	}
	cut := f.Cost(items, s)
	return Report{
		Items: items, Tokens: f.Tokens, FreeableTokens: cut.Freed, AfterTokens: f.Tokens - cut.Freed, Cache: cut.Cache,
		Advice: f.advice(cut, s),
	}
}

// nearCompaction is how many further requests count as few: a cut that puts off a compaction is worth more than its tokens then.
const nearCompaction = 5

// advice says what to do, with the figures that speak for it.
func (f Found) advice(cut Cut, s Situation) string {
	frees := "frees " + short(cut.Freed)
	turns := func(n int) string { return plural(n, "turn", "turns") }
	switch {
	case cut.Freed == 0:
		return "Nothing to cut: no result is repeated, out of date, failed or forgotten."
	case cut.Cold:
		return "Cutting now " + frees + " and costs nothing: the cache expired " + ago(s.Now.Sub(*cut.ColdAt)) + " ago."
	case cut.Pays:
		if *cut.BreakEvenTurns == 0 {
			return "Cutting now " + frees + " and pays for itself at once."
		}
		return "Cutting now " + frees + " and pays for itself after " + turns(*cut.BreakEvenTurns) + "."
	case s.CompactsAt > 0 && cut.ExpectedRequests <= nearCompaction:
		return "Cutting now " + frees + " and puts off the compaction, which is " + short(max(0, s.CompactsAt-f.Tokens)) + " away."
	}
	best := f.Best(s)
	if best.Freed > 0 {
		return fmt.Sprintf("Cut only the newest part: %d of %s free %s and pay for themselves after %s.",
			len(best.Items), plural(len(f.Items), "item", "items"), short(best.Freed), turns(*best.BreakEvenTurns))
	}
	left := "are left"
	if cut.ExpectedTurns == 1 {
		left = "is left"
	}
	wait := fmt.Sprintf("Wait: %s are cached and about %s %s", short(cut.RewrittenTokens), turns(cut.ExpectedTurns), left)
	if cut.BreakEvenTurns == nil {
		return wait + "; cutting " + short(cut.Freed) + " would never pay."
	}
	return wait + "; cutting " + short(cut.Freed) + " would pay after " + fmt.Sprint(*cut.BreakEvenTurns) + "."
}

// short writes tokens for a sentence: 96k, 1.2k, 840.
func short(n int) string {
	switch {
	case n >= 10_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprint(n)
}

// ago writes a duration in its largest unit.
func ago(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return plural(int(d.Hours()/24), "day", "days")
	case d >= time.Hour:
		return plural(int(d.Hours()), "hour", "hours")
	}
	return plural(int(d.Minutes()), "minute", "minutes")
}
