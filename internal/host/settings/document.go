// Package settings edits the JSON settings of agent hosts without rewriting them. Everything that an edit does not touch keeps its
// bytes, including comments, order and spelling. Undoing an edit restores the text.
//
// It knows the form of hooks that hosts share (https://code.claude.com/docs/en/hooks), but not the events of any host.
package settings

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
)

// maxBrackets bounds the nesting of a text. The parser is recursive, and a megabyte of brackets would overflow its stack, which ends a
// Go program.
const maxBrackets = 20_000

// bom is the byte order mark that Windows editors write.
const bom = "\ufeff"

// Document is a settings file that is being edited.
type Document struct {
	name string // of the file, for messages
	mark []byte // the byte order mark, where there is one
	text []byte // as parsed, without it
	root hujson.Value
	l    layout
}

// Parse reads a JSON text, in which comments and trailing commas are allowed. An empty text is an empty object. Any other text that is
// no JSON object is an error with coded.Invalid, with file, line and column.
func Parse(name string, text []byte) (*Document, error) {
	d := &Document{name: name}
	if bytes.HasPrefix(text, []byte(bom)) {
		d.mark, text = text[:len(bom)], text[len(bom):]
	}
	d.text = text
	switch {
	case !utf8.Valid(text):
		return nil, coded.Errorf(coded.Invalid, "%s: not UTF-8 text", name)
	case bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets:
		return nil, coded.Errorf(coded.Invalid, "%s: more than %d brackets", name, maxBrackets)
	case d.Blank():
		d.root = hujson.Value{Value: &hujson.Object{}, AfterExtra: hujson.Extra("\n")}
	default:
		// The parser takes a line comment without a line end for an unfinished one.
		root, err := hujson.Parse(append(bytes.Clone(text), '\n'))
		if err != nil {
			return nil, coded.Errorf(coded.Invalid, "%s:%s", name, syntaxProblem(err, text))
		}
		root.AfterExtra = root.AfterExtra[:len(root.AfterExtra)-1]
		d.root = root
	}
	o, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, d.wrong(d.root, "the file holds %s, want an object", kindOf(d.root))
	}
	d.l = layoutOf(text, o)
	return d, nil
}

// Bytes returns the edited text.
func (d *Document) Bytes() []byte {
	return append(bytes.Clone(d.mark), d.root.Pack()...)
}

// Empty reports whether nothing is left in the document, not even a comment.
func (d *Document) Empty() bool {
	o := d.object()
	comments := append(append(bytes.Clone(d.root.BeforeExtra), o.AfterExtra...), d.root.AfterExtra...)
	return len(o.Members) == 0 && len(bytes.TrimSpace(comments)) == 0
}

// Blank reports whether the parsed text was empty, which means an empty object.
func (d *Document) Blank() bool { return len(bytes.TrimSpace(d.text)) == 0 }

// True reports whether a member is true.
func (d *Document) True(name string) bool {
	m := find(d.object(), name)
	return m != nil && m.Value.Value.Kind() == 't'
}

// Raw returns the JSON at the given names, one inside the other; "" where there is none.
func (d *Document) Raw(names ...string) string {
	o := d.object()
	for i, name := range names {
		m := find(o, name)
		if m == nil {
			return ""
		}
		if i == len(names)-1 {
			v := m.Value.Clone()
			v.Minimize()
			return v.String()
		}
		inner, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return ""
		}
		o = inner
	}
	return ""
}

// Standard reports whether the text is plain JSON, without comments and trailing commas.
func (d *Document) Standard() bool { return d.root.IsStandard() }

func (d *Document) object() *hujson.Object { return d.root.Value.(*hujson.Object) }

// member returns the member of an object with a name, nil if there is none. A name that occurs twice is an error: hosts use the last
// one, users read the first.
func (d *Document) member(o *hujson.Object, name string) (*hujson.ObjectMember, error) {
	var found *hujson.ObjectMember
	for i := range o.Members {
		if m := &o.Members[i]; stringOf(m.Name) == name {
			if found != nil {
				return nil, d.wrong(m.Name, "%q is set a second time", name)
			}
			found = m
		}
	}
	return found, nil
}

// wrong returns an error about a value, with its position.
func (d *Document) wrong(v hujson.Value, format string, args ...any) error {
	before := d.text[:min(v.StartOffset, len(d.text))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return coded.Errorf(coded.Invalid, "%s:%d:%d: %s", d.name, line, column, fmt.Sprintf(format, args...))
}

// syntaxProblem rewords the parser's error, which begins with "hujson: line 3, column 5: ", as "3:5: …".
func syntaxProblem(err error, document []byte) string {
	txt := strings.TrimPrefix(err.Error(), "hujson: ")
	var line, column int
	if n, _ := fmt.Sscanf(txt, "line %d, column %d:", &line, &column); n == 2 {
		_, rest, _ := strings.Cut(txt, ": ")
		if lines := bytes.Split(bytes.TrimRight(document, " \t\r\n"), []byte("\n")); line > len(lines) { // blank lines follow the end
			line, column = len(lines), len(lines[len(lines)-1])+1
		}
		return fmt.Sprintf("%d:%d: %s", line, column, text.SyntaxProblem(text.Sanitize(rest, 200)))
	}
	return " " + text.Sanitize(txt, 200)
}

// stringOf returns the value of a string literal, "" for anything else.
func stringOf(v hujson.Value) string {
	if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return lit.String()
	}
	return ""
}

func kindOf(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	}
	return fmt.Sprint(v.Value)
}
