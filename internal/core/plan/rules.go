package plan

import (
	"fmt"
	"hash/maphash"

	"github.com/ctxls/ctxls/internal/core/text"
)

// How old something must be to go, and how much it must free. The ages keep the agent's current work together; the sizes
// keep items out that free less than a placeholder and the attention it takes.
var (
	failedAge   = age{turns: 2, responses: 8}
	binaryAge   = age{turns: 2, responses: 10}
	staleAge    = age{turns: 3, responses: 30}
	bulkyAge    = age{turns: 1, responses: 10}
	thinkingAge = age{turns: 2, responses: 1 << 30}
)

const (
	minFreed      = 32      // tokens, of any item
	minStale      = 200     // of a stale one
	bulkyShare    = 10      // percent of the window
	assumedWindow = 200_000 // tokens, if the window is unknown
	maxPath       = 300     // characters of a path that are shown
	minDuplicate  = 64      // bytes: shorter results say "ok"
)

// finder is a search under way. Its slices go by part.
type finder struct {
	*conversation
	window  int
	kinds   []Kind // what was found
	keepers []int
	holds   []bool // it keeps the content of something that was found
	quoted  []bool // what was said later quotes a line of it
	used    []bool // what came later names it, or a later call uses a line of it
}

// mayGo reports whether the rules may look at a part.
func (f *finder) mayGo(p *numbered) bool {
	if p.Fixed || p.Cleared || p.Tokens-p.Left < minFreed {
		return false
	}
	switch p.Class {
	case Thought, Media:
		return true
	case Call, Result:
		return p.call >= 0
	}
	return false
}

// later is what is known of the parts after one, while they are gone through from the last to the first.
type later struct {
	said, used, named fingerprints
	read              map[string]reading // the last whole read of each file
	written           map[string]int     // the first later write of each file as a whole
	changed           map[string]int     // the first later change of each file
	asked             map[string]int     // the last answer to each read or listing
	same              map[uint64]int     // the last result of each content
}

// reading is a whole read of a file.
type reading struct {
	part  int
	lines fingerprints
}

// compare goes through the parts from the last to the first, finds what is superseded or a duplicate, and takes down what is
// quoted or used later.
func (f *finder) compare() {
	l := later{said: fingerprints{}, used: fingerprints{}, named: fingerprints{}, read: map[string]reading{}, written: map[string]int{}, changed: map[string]int{}, asked: map[string]int{}, same: map[uint64]int{}}
	for i := len(f.parts) - 1; i >= 0; i-- {
		p := &f.parts[i]
		switch p.Class {
		case Prompt, Aside, Answer, Thought:
			l.said.addQuotable(p.Text)
			l.named.addNames(p.Text)
		case Call:
			f.quoted[i] = f.mayGo(p) && l.said.quotedBy(p.Text)
			if !f.failed(p) {
				l.change(p, i)
			}
			EachString(p.Text, func(s string) {
				l.used.addLines(s)
				l.named.addNames(s)
			})
		case Result:
			if f.mayGo(p) {
				f.compareResult(&l, p, i)
			}
			if p.call >= 0 && !p.Failed && !p.Cleared {
				l.keep(p, i)
			}
		}
	}
}

// compareResult finds whether a result is superseded or a duplicate, and, where it may go for its age or its size, what came back to it.
func (f *finder) compareResult(l *later, p *numbered, i int) {
	kind, keeper := l.supersede(p)
	if kind == "" && f.judgeResult(p, false) == "" {
		return
	}
	if f.quoted[i] = l.said.quotedBy(p.Text); f.quoted[i] {
		return
	}
	if kind != "" {
		f.kinds[i], f.keepers[i], f.holds[keeper] = kind, keeper, true
		return
	}
	f.used[i] = p.act.path != "" && l.named.names(p.act.path) || l.used.hasLine(p.Text)
}

// failed reports whether a call's result says so.
func (f *finder) failed(call *numbered) bool { return call.call >= 0 && f.parts[call.call].Failed }

// change takes down what a call does to its file.
func (l *later) change(call *numbered, i int) {
	a := call.act
	if a.path == "" || call.call < 0 || call.Cleared {
		return
	}
	if a.verb == writes {
		l.written[a.path] = i
	}
	if a.verb == writes || a.verb == edits {
		l.changed[a.path] = i
	}
}

// keep takes down a result as one that earlier ones may be compared with. Of several, the last counts.
func (l *later) keep(p *numbered, i int) {
	if hash, ok := contentHash(p.Text); ok {
		if _, known := l.same[hash]; !known {
			l.same[hash] = i
		}
	}
	a := p.act
	if a.key != "" {
		if _, known := l.asked[a.key]; !known {
			l.asked[a.key] = i
		}
	}
	if _, known := l.read[a.path]; a.whole && a.path != "" && !known {
		r := reading{i, fingerprints{}}
		r.lines.addLines(p.Text)
		l.read[a.path] = r
	}
}

// supersede returns what makes a result a duplicate or superseded, and the part that does: "" for nothing. A later read takes its place only
// where the file was changed in between, or where it holds every line: hosts answer repeated reads with "unchanged", and
// cut long files.
func (l *later) supersede(p *numbered) (Kind, int) {
	if hash, ok := contentHash(p.Text); ok {
		if same, ok := l.same[hash]; ok {
			return Duplicate, same
		}
	}
	a := p.act
	switch a.verb {
	case reads:
		if by, ok := l.written[a.path]; ok && a.path != "" {
			return Superseded, by
		}
		if again, ok := l.read[a.path]; ok && a.path != "" && !isStub(again) {
			changed, ok := l.changed[a.path]
			if ok && changed < again.part || again.lines.holdsAll(p.Text) {
				return Superseded, again.part
			}
		}
		if again, ok := l.asked[a.key]; ok && a.path != "" {
			if changed, ok := l.changed[a.path]; ok && changed < again {
				return Superseded, again
			}
		}
	case lists:
		if again, ok := l.asked[a.key]; ok {
			return Superseded, again
		}
	}
	return "", -1
}

// isStub reports whether a read says too little to be of a file: hosts answer a repeated read so.
func isStub(r reading) bool { return len(r.lines) <= 1 }

// contentHash returns the hash of a result that is long enough to be told from others.
func contentHash(text string) (uint64, bool) {
	return maphash.String(seed, text), len(text) >= minDuplicate
}

// judge finds what goes by its age and its size.
func (f *finder) judge() {
	for i := range f.parts {
		p := &f.parts[i]
		if f.kinds[i] != "" || f.holds[i] || f.quoted[i] || !f.mayGo(p) {
			continue
		}
		f.keepers[i] = -1
		switch p.Class {
		case Result:
			f.kinds[i] = f.judgeResult(p, f.used[i])
		case Thought:
			if f.reached(p, thinkingAge) {
				f.kinds[i] = Thinking
			}
		case Call:
			if f.failed(p) && f.reached(p, failedAge) {
				f.kinds[i] = Failed
			}
		case Media: // one within a result follows it
			goesAlong := p.Within >= 0 && f.kinds[p.Within] != ""
			if !goesAlong && f.reached(p, binaryAge) {
				f.kinds[i] = Binary
			}
		}
	}
}

func (f *finder) judgeResult(p *numbered, used bool) Kind {
	window := f.window
	if window <= 0 {
		window = assumedWindow
	}
	switch {
	case used:
		return ""
	case f.reached(p, staleAge) && p.Tokens-p.Left >= minStale:
		return Stale
	case f.reached(p, bulkyAge) && p.Tokens*100 > window*bulkyShare:
		return Bulky
	}
	return ""
}

// item describes what was found at a part.
func (f *finder) item(i int) Item {
	p, kind := &f.parts[i], f.kinds[i]
	it := Item{Kind: kind, Tokens: p.Tokens - p.Left, Certainty: certaintyOf[kind], Part: i, Keeper: f.keepers[i]}
	it.Where.Turn = p.turn
	if p.Message >= 0 {
		it.Where.Message = &p.Message
	}
	if call := p; p.Class == Call || p.Class == Result {
		if p.Class == Result {
			call = &f.parts[p.call]
		}
		it.Where.CallID = text.Sanitize(call.CallID, text.MaxLabel)
		it.Where.Tool, it.Where.Path = text.Sanitize(call.Tool, text.MaxLabel), text.Sanitize(call.act.path, maxPath)
	}
	it.Why = f.why(p, kind, it.Keeper)
	return it
}

func (f *finder) why(p *numbered, kind Kind, keeper int) string {
	ago := plural(f.responses-p.response, "response", "responses") + " ago"
	switch kind {
	case Duplicate:
		return "the same result stands again in turn " + fmt.Sprint(f.parts[keeper].turn)
	case Superseded:
		if by := &f.parts[keeper]; by.Class == Call {
			return "the file was written in turn " + fmt.Sprint(by.turn)
		}
		return "read again in turn " + fmt.Sprint(f.parts[keeper].turn)
	case Thinking:
		return fmt.Sprintf("thought in turn %d of %d", p.turn, f.turns)
	case Failed:
		return "the call failed " + ago
	case Binary:
		return "shown to the model " + ago
	case Stale:
		return "nothing has named it since, " + ago
	}
	window := f.window
	if window <= 0 {
		window = assumedWindow
	}
	return fmt.Sprintf("%d %% of the window", p.Tokens*100/window)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n) + " " + many
}
