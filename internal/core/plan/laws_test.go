package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var drawLine = rapid.SampledFrom([]string{
	"func main() is where the program begins to run", "package of things that nobody ever imports here", "ok", "}", "",
	"error: the port 5432 was refused by the host", "   17→func main() is where the program begins to run",
})

var drawBody = rapid.Custom(func(t *rapid.T) string {
	if long := rapid.SampledFrom([]string{"", "", "all twelve tests of the package have passed in two seconds flat\nand nothing else was said\n"}).Draw(t, "long"); long != "" {
		return long
	}
	return strings.Repeat(drawLine.Draw(t, "line")+"\n", rapid.IntRange(1, 3).Draw(t, "times")) + drawLine.Draw(t, "last")
})

// drawParts makes a conversation of turns with calls, results, pictures and thoughts. Some calls have no result.
var drawParts = rapid.Custom(func(t *rapid.T) (parts []Part) {
	add := func(p Part) {
		p.Message, p.Left = len(parts), 10
		if p.Class != Media {
			p.Within = -1
		}
		if p.Class == Prompt || p.Class == Answer || p.Class == Instructions {
			p.Left = 0
		}
		p.Fixed = rapid.IntRange(0, 9).Draw(t, "fixed") == 0
		parts = append(parts, p)
	}
	size := rapid.SampledFrom([]int{20, 300, 30_000})
	for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0:
			add(Part{Class: Prompt, Text: drawLine.Draw(t, "prompt"), Tokens: 50})
		case 1:
			add(Part{Class: rapid.SampledFrom([]Class{Answer, Aside, Injected, Instructions}).Draw(t, "said"), Text: "So: " + drawBody.Draw(t, "answer"), Tokens: 50})
		case 2:
			add(Part{Class: Thought, Tokens: 400})
		case 3:
			add(Part{Class: Media, Tokens: 1500, Within: -1})
		default:
			path := rapid.SampledFrom([]string{"/src/a.go", "/src/b.go", "b.md"}).Draw(t, "path")
			tool := rapid.SampledFrom([]string{"Read", "Read", "Write", "Edit", "Grep", "Bash"}).Draw(t, "tool")
			input := fmt.Sprintf(`{"file_path":%q}`, path)
			switch {
			case tool == "Read" && rapid.Bool().Draw(t, "range"):
				input = fmt.Sprintf(`{"file_path":%q,"offset":%d}`, path, rapid.IntRange(0, 2).Draw(t, "offset"))
			case tool == "Bash" || tool == "Grep":
				input = `{"command":"go test ./..."}`
			}
			id := fmt.Sprint("call-", i)
			add(Part{Class: Call, Text: input, CallID: id, Tool: tool, Tokens: size.Draw(t, "input")})
			if rapid.IntRange(0, 7).Draw(t, "unanswered") == 0 {
				continue
			}
			failed, cleared := rapid.IntRange(0, 3).Draw(t, "failed") == 0, rapid.IntRange(0, 9).Draw(t, "cleared") == 0
			add(Part{Class: Result, Text: drawBody.Draw(t, "result"), CallID: id, Tokens: size.Draw(t, "output"), Failed: failed, Cleared: cleared})
			if rapid.IntRange(0, 4).Draw(t, "picture") == 0 {
				add(Part{Class: Media, Tokens: 1500, Within: len(parts) - 1})
			}
		}
	}
	return parts
})

// story is a conversation without the finder's analysis: the call of each result, and the tokens after each part.
type story struct {
	parts              []Part
	answers            map[int]int // for a result its call, for a call its result
	turns, responses   []int       // up to each part
	allTurns, allSteps int
}

func tell(parts []Part) story {
	s := story{parts: parts, answers: map[int]int{}}
	for i, p := range parts {
		if p.Class == Prompt && (i == 0 || parts[i-1].Class != Prompt) {
			s.allTurns++
		}
		model := func(c Class) bool { return c == Answer || c == Thought || c == Call }
		if model(p.Class) && (i == 0 || !model(parts[i-1].Class)) {
			s.allSteps++
		}
		s.turns, s.responses = append(s.turns, s.allTurns), append(s.responses, s.allSteps)
		if p.Class == Result {
			for j := range i {
				if parts[j].Class == Call && parts[j].CallID == p.CallID {
					s.answers[i], s.answers[j] = j, i
				}
			}
		}
	}
	return s
}

func (s story) old(i int, least age) bool {
	return s.allTurns-s.turns[i] >= least.turns || s.allSteps-s.responses[i] >= least.responses
}

// quotedLater reports whether a later part contains a long line of this part.
func (s story) quotedLater(i int) bool {
	for line := range strings.Lines(s.parts[i].Text) {
		line = strings.TrimSpace(withoutNumber(line))
		for _, later := range s.parts[i+1:] {
			said := later.Class == Prompt || later.Class == Aside || later.Class == Answer
			if said && len(line) >= minLine && strings.Contains(later.Text, line) {
				return true
			}
		}
	}
	return false
}

func (s story) namedLater(i int, name string) bool {
	for _, later := range s.parts[i+1:] {
		if (later.Class == Call || later.Class == Answer || later.Class == Prompt) && strings.Contains(later.Text, name) {
			return true
		}
	}
	return false
}

func TestFindLaws(t *testing.T) {
	seen := map[Kind]int{}
	rapid.Check(t, func(t *rapid.T) {
		parts := drawParts.Draw(t, "parts")
		conv := Conversation{Parts: parts, Before: 1000, Window: 100_000}
		found, s := Find(conv), tell(parts)
		planned := map[int]Kind{}
		for _, it := range found.Items {
			if planned[it.Part] != "" {
				t.Fatalf("part %d is two items: %s and %s", it.Part, planned[it.Part], it.Kind)
			}
			planned[it.Part] = it.Kind
		}
		for _, it := range found.Items {
			seen[it.Kind]++
			i, p := it.Part, parts[it.Part]
			_, paired := s.answers[i]
			switch p.Class {
			case Call, Result:
				if !paired {
					t.Fatalf("%v of part %d, which has no counterpart", it, i)
				}
			case Thought, Media:
			default:
				t.Fatalf("%v is a part of class %d", it, p.Class)
			}
			if p.Fixed || p.Cleared || s.quotedLater(i) || it.Tokens != p.Tokens-p.Left || it.Tokens <= 0 || it.Why == "" {
				t.Fatalf("%+v of %+v; quoted later: %v", it, p, s.quotedLater(i))
			}
			if it.Keeper >= 0 && (it.Keeper <= i || parts[it.Keeper].Cleared || planned[it.Keeper] == Stale || planned[it.Keeper] == Bulky) {
				t.Fatalf("%+v is kept by %+v, planned as %q", it, parts[it.Keeper], planned[it.Keeper])
			}
			s.check(t, it, planned)
		}
		if found.Turns != s.allTurns || found.Responses != s.allSteps {
			t.Fatalf("%d turns and %d responses, want %d and %d", found.Turns, found.Responses, s.allTurns, s.allSteps)
		}
		// A plan contains no quoted part, whatever its kind.
		for _, it := range found.Items {
			if p := parts[it.Part]; p.Class == Result && strings.Contains(p.Text, "port 5432") {
				quoting := append(slices.Clone(parts), Part{Class: Answer, Text: "It said `error: the port 5432 was refused by the host`.", Tokens: 20, Within: -1})
				for _, again := range Find(Conversation{Parts: quoting, Window: 100_000}).Items {
					if again.Part == it.Part {
						t.Fatalf("%+v was quoted and is still planned", it)
					}
				}
			}
		}
	})
	for _, kind := range Kinds {
		if seen[kind] == 0 && !testing.Short() { // a few conversations need not have all
			t.Errorf("no conversation had an item of kind %s", kind)
		}
	}
}

// check tests the law of each kind.
func (s story) check(t *rapid.T, it Item, planned map[int]Kind) {
	i, p := it.Part, s.parts[it.Part]
	call := s.parts[s.answers[i]]
	ok := false
	switch it.Kind {
	case Duplicate:
		ok = p.Class == Result && s.parts[it.Keeper].Text == p.Text && !s.parts[it.Keeper].Failed
	case Superseded:
		by := s.parts[it.Keeper]
		if by.Class == Result {
			by = s.parts[s.answers[it.Keeper]]
			ok = by.Tool == call.Tool && !s.parts[it.Keeper].Failed
		} else {
			ok = by.Tool == "Write" && !s.parts[s.answers[it.Keeper]].Failed
		}
		samePath := actionOf(call.Tool, call.Text, "").path == actionOf(by.Tool, by.Text, "").path
		ok = ok && p.Class == Result && samePath && (call.Tool == "Read" || call.Tool == "Grep")
	case Thinking:
		ok = p.Class == Thought && s.allTurns-s.turns[i] >= thinkingAge.turns
	case Failed:
		ok = p.Class == Call && s.parts[s.answers[i]].Failed && s.old(i, failedAge)
	case Binary:
		ok = p.Class == Media && s.old(i, binaryAge) && (p.Within < 0 || planned[p.Within] == "")
	case Stale:
		path := actionOf(call.Tool, call.Text, "").path
		ok = p.Class == Result && s.old(i, staleAge) && (path == "" || !s.namedLater(i, base(path)))
	case Bulky:
		ok = p.Class == Result && s.old(i, bulkyAge) && p.Tokens > 10_000
	}
	if !ok {
		t.Fatalf("%+v does not hold for %+v", it, p)
	}
}

// A target takes the first items, and only as many as it needs.
func TestUpTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found := Find(Conversation{Parts: drawParts.Draw(t, "parts"), Window: 100_000})
		target := rapid.IntRange(1, max(1, found.Tokens)).Draw(t, "target")
		items := found.UpTo(target)
		left := found.Tokens - Freed(items)
		if left > target && len(items) < len(found.Items) {
			t.Fatalf("%d tokens are left of %d, and %d items unused", left, found.Tokens, len(found.Items)-len(items))
		}
		if n := len(items); n > 0 && left+items[n-1].Tokens <= target {
			t.Fatalf("the last item was not needed: %d are left for %d", left, target)
		}
	})
}

// A cut rewrites the kept content after its first item. The cost equals the formula's.
func TestCostLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := drawParts.Draw(t, "parts")
		found := Find(Conversation{Parts: parts, Before: 500, Window: 100_000})
		s := Situation{Prices: PricesOf("", rapid.SampledFrom([]string{"claude-opus-4-6", "gpt-5", "gpt-4o", "claude-fable-5-1"}).Draw(t, "model"))}
		cut := found.Cost(found.Items, s)
		before, kept := 500, 0
		first := len(parts)
		for _, it := range found.Items {
			first = min(first, it.Part)
		}
		for i, p := range parts {
			within := p.Class == Media && p.Within >= 0
			if i < first && !within {
				before += p.Tokens
			} else if !within {
				kept += p.Tokens
			}
		}
		if len(found.Items) > 0 && cut.RewrittenTokens != max(0, kept-cut.Freed) {
			t.Fatalf("%d tokens are written again, want %d", cut.RewrittenTokens, kept-cut.Freed)
		}
		if n := cut.BreakEvenRequests; n != nil && cut.Freed > 0 {
			saved, cost := float64(cut.Freed)*s.Prices.CacheRead, float64(cut.RewrittenTokens)*(s.Prices.CacheWrite-s.Prices.CacheRead)
			if float64(*n)*saved < cost-1e-6 || *n > 0 && float64(*n-1)*saved >= cost {
				t.Fatalf("%d requests do not break even: each saves %v of %v", *n, saved, cost)
			}
		}
		best := found.Best(s)
		if best.Gain < 0 || cut.Pays && best.Gain < cut.Gain {
			t.Fatalf("the best cut gains %v, all items %v", best.Gain, cut.Gain)
		}
		from := len(parts)
		for _, it := range best.Items {
			from = min(from, it.Part)
		}
		for _, it := range found.Items {
			if it.Part >= from && !slices.ContainsFunc(best.Items, func(b Item) bool { return b.Part == it.Part }) {
				t.Fatalf("the best cut begins at part %d and leaves out part %d", from, it.Part)
			}
		}
	})
}
