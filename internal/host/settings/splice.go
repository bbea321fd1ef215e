package settings

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// An item is a member of an object or an element of an array.
type item interface {
	hujson.ObjectMember | hujson.ArrayElement
}

// head is the value whose BeforeExtra precedes the item, tail the one whose AfterExtra follows it.
func head[T item](x *T) *hujson.Value {
	if m, ok := any(x).(*hujson.ObjectMember); ok {
		return &m.Name
	}
	return any(x).(*hujson.Value)
}

func tail[T item](x *T) *hujson.Value {
	if m, ok := any(x).(*hujson.ObjectMember); ok {
		return &m.Value
	}
	return any(x).(*hujson.Value)
}

// layout is the layout of a text.
type layout struct {
	newline string
	unit    string // one step of indentation
}

func layoutOf(text []byte, root *hujson.Object) layout {
	l := layout{newline: "\n", unit: "  "}
	if bytes.Contains(text, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	if len(root.Members) > 0 {
		if indent, multiline := indentOf(root.Members[0].Name.BeforeExtra); multiline && indent != "" {
			l.unit = indent
		}
	}
	return l
}

// indentOf returns the indentation of a line, given everything before its first item, and whether there is a line break at all.
func indentOf(before hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(before, '\n')
	line := string(before[i+1:])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))], i >= 0
}

// split splits the text between items into the comments, with the space before and between them, and the space after them.
func split(extra hujson.Extra) (comments, space string) {
	comments = strings.TrimRight(string(extra), " \t\r\n")
	return comments, string(extra[len(comments):])
}

// add appends an item to a container. end is what precedes the container's closing bracket, indent the indentation of the
// line it stands in. An empty container is opened up over several lines; in others the item takes a line of its own where the
// bracket has one, so that what is written on one line stays on one line. cut undoes exactly this.
func add[T item](items []T, end *hujson.Extra, x T, indent string, l layout) []T {
	comments, space := split(*end)
	n := len(items)
	if n == 0 {
		head(&x).BeforeExtra = hujson.Extra(comments + l.newline + indent + l.unit)
		*end = hujson.Extra(l.newline + indent + space)
		return []T{x}
	}
	separator := " "
	if strings.Contains(space, "\n") {
		own, multiline := indentOf(head(&items[n-1]).BeforeExtra)
		if !multiline {
			own = indent + l.unit
		}
		separator = l.newline + own
	}
	head(&x).BeforeExtra = hujson.Extra(comments + separator)
	if tail(&items[n-1]).AfterExtra != nil { // a trailing comma: it passes on
		tail(&x).AfterExtra = hujson.Extra{}
	}
	*end = hujson.Extra(space)
	return append(items, x)
}

// cut removes an item from a container with its space. Comments around it stay.
func cut[T item](items []T, end *hujson.Extra, i int, indent string, l layout) []T {
	comments, _ := split(head(&items[i]).BeforeExtra)
	after, _ := split(tail(&items[i]).AfterExtra)
	comments += after
	trailing := tail(&items[i]).AfterExtra != nil
	last := i == len(items)-1
	items = append(items[:i:i], items[i+1:]...)
	switch {
	case !last:
		next := head(&items[i])
		next.BeforeExtra = join(comments, string(next.BeforeExtra), l)
	case i == 0:
		*end = join(comments, strings.TrimPrefix(string(*end), l.newline+indent), l)
	case trailing:
		if previous := tail(&items[i-1]); previous.AfterExtra == nil {
			previous.AfterExtra = hujson.Extra{}
		}
		*end = join(comments, string(*end), l)
	default:
		previous := tail(&items[i-1])
		*end = join(string(previous.AfterExtra)+comments, string(*end), l)
		previous.AfterExtra = nil
	}
	return items
}

// join puts comments before the text that follows them. A line comment must not swallow it.
func join(comments, rest string, l layout) hujson.Extra {
	if joined := hujson.Extra(comments + rest); joined.IsValid() {
		return joined
	}
	return hujson.Extra(comments + l.newline + rest)
}
