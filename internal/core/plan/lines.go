package plan

import (
	"hash/maphash"
	"strings"

	"github.com/ctxls/ctxls/internal/jsonscan"
)

// minLine is how long a line must be to be known again, in bytes without the white space around it: shorter ones, such as
// "return nil", stand in many texts.
const minLine = 24

var seed = maphash.MakeSeed()

// fingerprints are hashes of lines, words or whole texts. A collision only keeps what could go.
type fingerprints map[uint64]struct{}

func (f fingerprints) add(text string) { f[maphash.String(seed, text)] = struct{}{} }

func (f fingerprints) has(text string) bool {
	_, ok := f[maphash.String(seed, text)]
	return ok
}

// EachLine calls visit with every line that is long enough to be known again, without the number that tools put in front of
// lines of files, until visit returns false.
func EachLine(text string, visit func(line string) bool) {
	for line := range strings.Lines(text) {
		line = strings.Trim(withoutNumber(line), " \t\r\n>*-`|\"',")
		if len(line) >= minLine && !visit(line) {
			return
		}
	}
}

// withoutNumber removes "  12→", "12\t", "00012| " and "12: ".
func withoutNumber(line string) string {
	rest := strings.TrimLeft(line, " \t")
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits > 7 {
		return line
	}
	for _, mark := range []string{"→", "\t", "|", ":"} {
		if after, ok := strings.CutPrefix(rest[digits:], mark); ok {
			return after
		}
	}
	return line
}

// quoteWords is how many words in a row make a quotation, and minQuote how long they must be together, in bytes.
const quoteWords, minQuote = 5, 24

// eachRun calls visit with the hash of every quoteWords words in a row, until visit returns false. Punctuation around a word does
// not count.
func eachRun(text string, visit func(run uint64) bool) {
	var hashes, sizes [quoteWords]int64
	n := 0
	for i := 0; i < len(text); {
		for i < len(text) && text[i] <= ' ' {
			i++
		}
		from := i
		for i < len(text) && text[i] > ' ' {
			i++
		}
		word := strings.Trim(text[from:i], "\"'`*_()[]{}<>.,;:!?|")
		if word == "" {
			continue
		}
		hashes[n%quoteWords], sizes[n%quoteWords] = int64(maphash.String(seed, word)), int64(len(word)+1)
		if n++; n < quoteWords {
			continue
		}
		run, size := uint64(0), int64(0)
		for k := range quoteWords { // oldest first
			run = run*0x9E3779B97F4A7C15 + uint64(hashes[(n+k)%quoteWords])
			size += sizes[(n+k)%quoteWords]
		}
		if size >= minQuote && !visit(run) {
			return
		}
	}
}

// addQuotable adds all by which a later reader may know that a text was quoted: its lines and its runs of words.
func (f fingerprints) addQuotable(text string) {
	f.addLines(text)
	eachRun(text, func(run uint64) bool { f[run] = struct{}{}; return true })
}

// quotedBy reports whether a text has a line or a run of words that is among the fingerprints.
func (f fingerprints) quotedBy(text string) (found bool) {
	if len(f) == 0 {
		return false
	}
	eachRun(text, func(run uint64) bool { _, found = f[run]; return !found })
	return found || f.hasLine(text)
}

// addLines adds the lines of a text.
func (f fingerprints) addLines(text string) {
	EachLine(text, func(line string) bool { f.add(line); return true })
}

// hasLine reports whether any line of a text is among the fingerprints.
func (f fingerprints) hasLine(text string) (found bool) {
	if len(f) == 0 {
		return false
	}
	EachLine(text, func(line string) bool { found = f.has(line); return !found })
	return found
}

// holdsAll reports whether every line of a text is among the fingerprints.
func (f fingerprints) holdsAll(text string) bool {
	all := true
	EachLine(text, func(line string) bool { all = f.has(line); return all })
	return all
}

// maxWord bounds what is taken for the name of a file, in bytes.
const maxWord = 512

// addNames adds the words of a text that may name files, and the last element of each.
func (f fingerprints) addNames(text string) {
	for len(text) > 0 {
		from := strings.IndexAny(text, "./\\")
		if from < 0 {
			return
		}
		lo := strings.LastIndexFunc(text[:from], isBreak) + 1
		hi := len(text)
		if n := strings.IndexFunc(text[from:], isBreak); n >= 0 {
			hi = from + n
		}
		if word := spelled(strings.TrimRight(text[lo:hi], ".:")); len(word) > 2 && len(word) <= maxWord {
			f.add(word)
			f.add(base(word))
		}
		text = text[hi:]
	}
}

// isBreak reports whether a character ends a word that may be a path.
func isBreak(r rune) bool {
	return r <= ' ' || strings.ContainsRune("\"'`()[]{}<>,;|=*", r)
}

// names reports whether a path was named: in full, or by its last element.
func (f fingerprints) names(path string) bool { return f.has(path) || f.has(base(path)) }

// EachString calls visit with every string in JSON text, decoded; text that is not JSON is one string.
func EachString(text string, visit func(string)) {
	v, err := jsonscan.Parse([]byte(text), nil)
	if err != nil {
		visit(text)
		return
	}
	walk(v, visit)
}

func walk(v jsonscan.Value, visit func(string)) {
	switch {
	case v.IsString():
		visit(v.Text())
	case v.IsArray():
		for _, element := range v.Elements() {
			walk(element, visit)
		}
	case v.IsObject():
		for _, member := range jsonscan.Members(v.Raw()) {
			walk(jsonscan.Whole(member), visit)
		}
	}
}
