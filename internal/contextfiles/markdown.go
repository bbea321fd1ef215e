package contextfiles

import (
	"bytes"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown parses CommonMark without extensions: Claude Code takes tables and ~~text~~ for plain text.
// It is made on demand, since every hook starts this program.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))
})

// span is a range of bytes of a file.
type span struct{ start, end int }

// reference is an import as it stands in a text: @ and a path.
type reference struct {
	span          // from the @ to the end of what the host takes for the path
	target string // the path, unescaped and without a fragment
}

// parsed is what Claude Code reads in the body of a memory file. Offsets count from the beginning of the body.
type parsed struct {
	refs     []reference // imports
	glued    []reference // what would be one if white space stood before its @ instead of a bracket or a quote
	comments []span      // block comments, which are not sent
}

// parseMarkdown parses the body of a memory file.
func parseMarkdown(body []byte) parsed {
	hasComment := bytes.Contains(body, []byte("<!--"))
	if !hasComment && bytes.IndexByte(body, '@') < 0 {
		return parsed{}
	}
	w := walker{source: body, seen: map[int]bool{}}
	document := markdown().Parse(text.NewReader(body))
	w.blocks(document, false)
	for node := document.FirstChild(); hasComment && node != nil; node = node.NextSibling() {
		if html, ok := node.(*ast.HTMLBlock); ok {
			w.spans = append(w.spans, w.comments(html)...)
		}
	}
	return parsed{w.refs, w.glued, w.spans}
}

// walker collects references.
type walker struct {
	source []byte
	refs   []reference
	glued  []reference
	spans  []span
	seen   map[int]bool
}

// blocks visits the blocks below a node. In a list item, not in a quotation, Claude Code looks for imports in the text as it was
// typed, too, so that it finds them in code.
func (w *walker) blocks(node ast.Node, inItem bool) {
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.ThematicBreak:
		case *ast.HTMLBlock:
			w.html(child)
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			if _, heading := child.(*ast.Heading); inItem && !heading {
				var typed run
				for _, line := range child.Lines().Sliced(0, child.Lines().Len()) {
					typed.add(w.source, line.Start, line.Stop)
				}
				w.scan(typed, false)
			}
			var plain run
			w.inlines(child, &plain)
			w.flush(&plain)
		case *ast.ListItem:
			w.blocks(child, true)
		case *ast.Blockquote:
			w.blocks(child, false)
		default:
			w.blocks(child, inItem)
		}
	}
}

// inlines collects the text below a node in r. Anything but text ends a run.
func (w *walker) inlines(node ast.Node, r *run) {
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			r.add(w.source, child.Segment.Start, child.Segment.Stop)
			switch {
			case child.HardLineBreak():
				w.flush(r)
			case child.SoftLineBreak():
				r.add([]byte{'\n'}, 0, 1)
			}
		case *ast.Emphasis, *ast.Link:
			w.flush(r)
			w.inlines(child, r)
			w.flush(r)
		default:
			w.flush(r)
		}
	}
}

// flush looks for references in a run of text, whose escaped characters divide it, and empties the run.
func (w *walker) flush(r *run) {
	whole := *r
	*r = run{}
	start := 0
	for i := 0; i+1 < len(whole.text); i++ {
		if whole.text[i] == '\\' && util.IsPunct(whole.text[i+1]) {
			w.scan(run{whole.text[:i], whole.places, start}, true)
			i++
			start = i + 1
		}
	}
	whole.start = start
	w.scan(whole, true)
}

// run is a text that was put together from pieces of a source.
type run struct {
	text   []byte
	places []place
	start  int // what lies before is not part of it
}

// place says where the text from at on stands in the source.
type place struct{ at, source int }

func (r *run) add(source []byte, start, stop int) {
	r.places = append(r.places, place{len(r.text), start})
	r.text = append(r.text, source[start:stop]...)
}

// offset returns where a byte of the text stands in the source.
func (r *run) offset(at int) int {
	i := sort.Search(len(r.places), func(i int) bool { return r.places[i].at > at })
	if i == 0 {
		return 0
	}
	p := r.places[i-1]
	return p.source + at - p.at
}

// scan finds the references of a run. In one that was not parsed, a bracket or a quote before an @ may be part of code.
func (w *walker) scan(r run, parsed bool) {
	for at := r.start; ; {
		i := bytes.IndexByte(r.text[at:], '@')
		if i < 0 {
			return
		}
		start := at + i
		at = start + 1
		before, _ := utf8.DecodeLastRune(r.text[r.start:start])
		glued := start > r.start && !isSpace(before)
		if glued && !parsed || glued && !strings.ContainsRune(`("'[`, before) {
			continue
		}
		end := at
		for end < len(r.text) {
			if r.text[end] == '\\' {
				if end+1 == len(r.text) || r.text[end+1] != ' ' {
					break
				}
				end += 2
				continue
			}
			c, size := utf8.DecodeRune(r.text[end:])
			if isSpace(c) {
				break
			}
			end += size
		}
		typed := string(r.text[at:end])
		at = end
		target, _, _ := strings.Cut(typed, "#")
		target = strings.ReplaceAll(target, `\ `, " ")
		if !isTarget(target) {
			continue
		}
		source := r.offset(start)
		if w.seen[source] {
			continue
		}
		w.seen[source] = true
		ref := reference{span{source, r.offset(end-1) + 1}, target}
		if glued {
			w.glued = append(w.glued, ref)
		} else {
			w.refs = append(w.refs, ref)
		}
	}
}

// isTarget reports whether what follows an @ can be the path of an import. Other words, such as @ünï.md, are none.
func isTarget(s string) bool {
	if s == "" || s == "/" {
		return false
	}
	if strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/") || s[0] == '/' {
		return true
	}
	c := s[0]
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// isSpace reports whether a character is \s in a regular expression of JavaScript.
func isSpace(r rune) bool {
	return r == ' ' || '\t' <= r && r <= '\r' || r == '\u00a0' || r == '\ufeff' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Zs, r)
}

// html finds the references behind a comment that begins a block of HTML; other HTML has none.
func (w *walker) html(block *ast.HTMLBlock) {
	whole := w.extent(block)
	comments := w.comments(block)
	if comments == nil {
		return
	}
	var rest run
	at := whole.start
	for _, c := range comments {
		if c.start > at {
			rest.add(w.source, at, c.start)
		}
		at = c.end
	}
	if at < whole.end {
		rest.add(w.source, at, whole.end)
	}
	w.scan(rest, true)
}

// comments returns what of a block of HTML Claude Code does not send: its comments if it begins with one, and the whole block
// with the empty lines behind it if nothing else is in it.
func (w *walker) comments(block *ast.HTMLBlock) (spans []span) {
	whole := w.extent(block)
	raw := w.source[whole.start:whole.end]
	if !bytes.HasPrefix(bytes.TrimLeftFunc(raw, isSpace), []byte("<!--")) {
		return nil
	}
	for at := 0; ; {
		start := bytes.Index(raw[at:], []byte("<!--"))
		if start < 0 {
			break
		}
		start += at
		end := bytes.Index(raw[start:], []byte("-->"))
		if end < 0 {
			break
		}
		end += start + len("-->")
		spans = append(spans, span{whole.start + start, whole.start + end})
		at = end
	}
	if spans == nil {
		return nil
	}
	left := raw
	for i := len(spans) - 1; i >= 0; i-- {
		left = append(append([]byte{}, left[:spans[i].start-whole.start]...), left[spans[i].end-whole.start:]...)
	}
	if len(bytes.TrimFunc(left, isSpace)) == 0 {
		return []span{whole}
	}
	return spans
}

// extent returns the lines of a block of HTML, with the empty lines behind it.
func (w *walker) extent(block *ast.HTMLBlock) span {
	first, last := -1, 0
	note := func(s text.Segment) {
		if first < 0 || s.Start < first {
			first = s.Start
		}
		last = max(last, s.Stop)
	}
	for _, line := range block.Lines().Sliced(0, block.Lines().Len()) {
		note(line)
	}
	if block.HasClosure() {
		note(block.ClosureLine)
	}
	if first < 0 {
		return span{}
	}
	first = bytes.LastIndexByte(w.source[:first], '\n') + 1
	for last < len(w.source) && (w.source[last] == '\n' || bytes.HasPrefix(w.source[last:], []byte("\r\n"))) {
		last++
	}
	return span{first, last}
}
