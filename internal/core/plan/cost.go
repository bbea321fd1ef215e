package plan

import (
	"math"
	"slices"
	"time"
)

// Situation is what the costs of a cut depend on beside the conversation.
type Situation struct {
	Prices Prices
	Now    time.Time
	// LastResponse is when the model answered last; zero is unknown, and the cache then counts as warm.
	LastResponse time.Time
	// CompactsAt is the size at which the host compacts or refuses, in tokens; 0 is unknown or never.
	CompactsAt int
	// Growth is what a turn adds, in tokens; 0 stands for the average of the conversation.
	Growth int
}

// Cache is what a cut costs at the provider's cache. A request reads what it shares with the one before from the cache; from
// the first change on, all of it is written again.
type Cache struct {
	RewrittenTokens int `json:"rewrittenTokens"` // what is kept after the first cut, and so is written again
	// BreakEvenRequests and BreakEvenTurns are after how many requests, or turns of as many requests as this conversation
	// has had on average, what the cut saves exceeds what it costs; 0 is at once. Null is never: nothing is freed, or the
	// cache reads for nothing.
	BreakEvenRequests *int       `json:"breakEvenRequests"`
	BreakEvenTurns    *int       `json:"breakEvenTurns"` // the same in turns
	Cold              bool       `json:"cold"`           // the cache has expired: all is written again anyway
	ColdAt            *time.Time `json:"coldAt"`         // when it expires; null where the last response is unknown
	// ExpectedRequests is how many further requests ctxls expects: as many as there have been, or fewer until the host
	// compacts. ExpectedTurns is the same in turns.
	ExpectedRequests int    `json:"expectedRequests"`
	ExpectedTurns    int    `json:"expectedTurns"` // the same in turns
	Prices           Prices `json:"prices"`        // what the figures were worked out with
}

// Cut is a choice of items, and what it costs.
type Cut struct {
	Items []Item
	Freed int // tokens
	Cache
	Pays bool    // the expected requests suffice for it to pay
	Gain float64 // what it saves over the expected requests, in plain input tokens; negative where it costs
}

// requestsPerTurn is at least 1.
func (f Found) requestsPerTurn() float64 {
	return max(1, float64(f.Responses)/float64(max(f.Turns, 1)))
}

// Cost returns what it costs to cut items.
func (f Found) Cost(items []Item, s Situation) Cut {
	cut := Cut{Items: items, Freed: Freed(items)}
	first := f.Tokens
	for _, it := range items {
		first = min(first, f.starts[it.Part])
	}
	return f.price(cut, first, s)
}

// price fills in the costs of a cut that begins after first tokens.
func (f Found) price(cut Cut, first int, s Situation) Cut {
	perTurn := f.requestsPerTurn()
	cut.Prices = s.Prices
	cut.RewrittenTokens = max(0, f.Tokens-cut.Freed-first)
	if !s.LastResponse.IsZero() {
		at := s.LastResponse.Add(time.Duration(s.Prices.TTLSeconds) * time.Second)
		cut.ColdAt, cut.Cold = &at, !s.Now.Before(at)
	}
	cut.ExpectedRequests = f.expected(s)
	cut.ExpectedTurns = int(math.Ceil(float64(cut.ExpectedRequests) / perTurn))
	if cut.Freed <= 0 {
		cut.RewrittenTokens = 0
		return cut
	}
	cost, saved := float64(cut.RewrittenTokens)*s.Prices.extra(), float64(cut.Freed)*s.Prices.CacheRead
	if cut.Cold { // without the cut what it frees would be written again, too
		cost = 0
	}
	cut.Gain = float64(cut.ExpectedRequests)*saved - cost
	switch {
	case cost == 0:
		cut.BreakEvenRequests, cut.BreakEvenTurns = new(int), new(int)
	case saved > 0:
		requests := int(math.Ceil(cost / saved))
		turns := int(math.Ceil(float64(requests) / perTurn))
		cut.BreakEvenRequests, cut.BreakEvenTurns = &requests, &turns
	}
	cut.Pays = cut.BreakEvenRequests != nil && *cut.BreakEvenRequests <= cut.ExpectedRequests
	return cut
}

// expected is how many further requests a conversation is taken to make. Of something that has lasted for a while without a
// known end, as much again is the expectation that supposes the least. The host's compaction ends it earlier.
func (f Found) expected(s Situation) int {
	n := f.Responses
	if s.CompactsAt > 0 {
		growth := float64(s.Growth) / f.requestsPerTurn()
		if s.Growth <= 0 && f.Responses > 0 {
			growth = float64(f.Tokens) / float64(f.Responses)
		}
		if growth > 0 {
			n = min(n, int(float64(max(0, s.CompactsAt-f.Tokens))/growth))
		}
	}
	return n
}

// Best returns the cut that saves the most over the expected requests: of all items from some place on, since what stands
// before the first of them stays in the cache. Without a place that saves anything it returns a cut without items.
func (f Found) Best(s Situation) Cut {
	order := slices.Clone(f.Items)
	slices.SortFunc(order, func(a, b Item) int { return b.Part - a.Part }) // the last first
	best := f.price(Cut{}, f.Tokens, s)
	freed, chosen := 0, 0
	for i, it := range order {
		freed += it.Tokens
		if cut := f.price(Cut{Freed: freed}, f.starts[it.Part], s); cut.Pays && cut.Gain > best.Gain {
			best, chosen = cut, i+1
		}
	}
	best.Items = order[:chosen]
	return best
}
