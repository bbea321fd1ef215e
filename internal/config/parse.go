package config

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/settings"
	coretext "github.com/ctxls/ctxls/internal/core/text"
	"github.com/tailscale/hujson"
)

// maxDepth bounds how deep a text may nest. Settings need three levels; the parser recurses, and a megabyte of
// brackets would overflow its stack, which no Go program survives.
const maxDepth = 32

// parse reads JSON with comments and trailing commas as a layer. It reports only the first syntax error, since the text
// after it cannot be trusted. It reports all other errors.
func parse(name string, text []byte, workspace bool) *layer {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // Windows editors write it
	l := &layer{name: name, text: text, offsets: map[string]int{}, workspace: workspace}
	if at := invalidUTF8(text); at >= 0 {
		l.report(at, "", "not UTF-8 text")
		return l
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return l // an empty file has no settings yet
	}
	if at := tooDeep(text); at >= 0 {
		l.report(at, "", "nested deeper than %d levels", maxDepth)
		return l
	}
	// The parser takes a line comment without a line end for one that breaks off.
	value, err := hujson.Parse(append(bytes.Clone(text), '\n'))
	if err != nil {
		l.reportSyntax(err)
		return l
	}
	root, ok := value.Value.(*hujson.Object)
	if !ok {
		l.report(value.StartOffset, "", "%s: want an object", show(value))
		return l
	}
	r := reader{layer: l}
	r.object(root, fields())
	return l
}

// A reader turns a parsed text into the settings of a layer.
type reader struct {
	*layer
}

// object reads the members of a group.
func (r *reader) object(o *hujson.Object, group *field) {
	for name, member := range r.members(o, group.key) {
		at := member.Name.StartOffset
		child := group.field(name)
		if child == nil {
			if group.key == "" && name == "$schema" && member.Value.Value.Kind() == '"' {
				continue // the path of the schema, for editors
			}
			r.report(at, join(group.key, printable(name)), "unknown key; %s", hint(group, name))
			continue
		}
		r.offsets[child.key] = at
		if r.workspace && !child.forWorkspace() {
			r.warn(at, child.key, "ignored: a workspace may set only %s", strings.Join(settings.WorkspaceKeys, ", "))
			continue
		}
		r.value(member.Value, child)
	}
}

// value reads the value of one field.
func (r *reader) value(v hujson.Value, f *field) {
	switch composite := v.Value.(type) {
	case *hujson.Object:
		switch f.kind {
		case object:
			r.object(composite, f)
			return
		case table:
			for name, member := range r.members(composite, f.key) {
				if n, ok := f.integer(member.Value); ok {
					r.take(member.Value.StartOffset, join(f.key, printable(name)), setting{f, name, n})
				} else {
					r.report(member.Value.StartOffset, join(f.key, printable(name)), "%s: want a whole number from %s to %s",
						show(member.Value), plain(f.min), plain(f.max))
				}
			}
			return
		case wordsTable:
			for name, member := range r.members(composite, f.key) {
				if all, ok := r.words(member.Value); ok {
					r.settings = append(r.settings, setting{f, name, all})
				} else {
					r.report(member.Value.StartOffset, join(f.key, printable(name)), "%s: want a list of strings", show(member.Value))
				}
			}
			return
		}
	case *hujson.Array:
		if all, ok := r.words(v); ok && f.kind == words {
			r.settings = append(r.settings, setting{f, "", all})
			return
		}
		if f.kind == list && len(composite.Elements) == f.length {
			r.list(composite, f)
			return
		}
	default:
		if value, ok := f.literal(v); ok {
			r.take(v.StartOffset, f.key, setting{f, "", value})
			return
		}
	}
	r.report(v.StartOffset, f.key, "%s: want %s", show(v), f.allowed())
}

// take adds a setting, except a workspace's window that no model has, since such a window would only make figures wrong.
func (r *reader) take(offset int, key string, s setting) {
	if tokens, ok := s.value.(int); ok && r.workspace && strings.HasPrefix(s.field.key, "window.") && !model.HasWindow(tokens) {
		r.warn(offset, key, "%s: ignored: a workspace may set only a window that some model has, like 128000, 200000 or 1000000", plain(float64(tokens)))
		return
	}
	r.settings = append(r.settings, s)
}

// maxWords bounds a list of strings.
const maxWords = 100

// words reads a list of strings. ok is false if it is not one.
func (r *reader) words(v hujson.Value) (all []string, ok bool) {
	a, ok := v.Value.(*hujson.Array)
	if !ok || len(a.Elements) > maxWords {
		return nil, false
	}
	all = make([]string, 0, len(a.Elements))
	for _, element := range a.Elements {
		literal, ok := element.Value.(hujson.Literal)
		if !ok || literal.Kind() != '"' {
			return nil, false
		}
		all = append(all, literal.String())
	}
	return all, true
}

// list reads a list of whole numbers.
func (r *reader) list(a *hujson.Array, f *field) {
	numbers := make([]int, 0, len(a.Elements))
	for i, v := range a.Elements {
		if n, ok := f.integer(v); ok {
			numbers = append(numbers, n)
		} else {
			r.report(v.StartOffset, fmt.Sprintf("%s[%d]", f.key, i), "%s: want a whole number from %s to %s",
				show(v), plain(f.min), plain(f.max))
		}
	}
	if len(numbers) == len(a.Elements) {
		r.settings = append(r.settings, setting{f, "", numbers})
	}
}

// members yields the members of o by name, until the maximum number of problems is reached. It reports a duplicate name
// and does not yield it.
func (r *reader) members(o *hujson.Object, key string) iter.Seq2[string, hujson.ObjectMember] {
	return func(yield func(string, hujson.ObjectMember) bool) {
		first := make(map[string]int, len(o.Members))
		for _, member := range o.Members {
			if len(r.problems) >= maxProblems {
				return
			}
			name := member.Name.Value.(hujson.Literal).String()
			at := member.Name.StartOffset
			if before, again := first[name]; again {
				r.report(at, join(key, printable(name)), "set again, after %s", r.place(before))
				continue
			}
			first[name] = at
			if !yield(name, member) {
				return
			}
		}
	}
}

// hint suggests names for the unknown name in group: a member of the group, a setting elsewhere with this name, or else
// all members of the group.
func hint(group *field, name string) string {
	if near := coretext.Nearest(name, group.names()); near != "" {
		return "did you mean " + join(group.key, near) + "?"
	}
	for _, f := range fields().leaves() {
		if f.name == name || f.key == name {
			if group, inside := strings.CutSuffix(f.key, "."+f.name); inside {
				return fmt.Sprintf("did you mean %s, that is %q inside %q?", f.key, f.name, group)
			}
			return fmt.Sprintf("did you mean %q, outside of any other?", f.key)
		}
	}
	return "want one of " + strings.Join(group.names(), ", ")
}

// reportSyntax reports the parser's error at the parser's position.
func (l *layer) reportSyntax(err error) {
	line, column := 1, 1
	fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column)
	offset := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(l.text[offset:], '\n')
		if next < 0 {
			offset = len(l.text)
			break
		}
		offset += next + 1
	}
	message := errors.Unwrap(err).Error()
	if literal, ok := strings.CutPrefix(message, "invalid literal: "); ok {
		message = "invalid literal: " + printable(literal)
	}
	l.report(offset+column-1, "", "%s", coretext.SyntaxProblem(message))
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// tooDeep returns the offset of the first bracket that exceeds the maximum depth, or -1. It parses strings and comments
// like the parser, so that both see the same brackets up to the first syntax error.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch rest := text[i:]; {
		case rest[0] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				return -1
			}
			i += end
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return -1
			}
			i += end + 3
		case rest[0] == '{', rest[0] == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case rest[0] == '}', rest[0] == ']':
			depth--
		}
	}
	return -1
}
