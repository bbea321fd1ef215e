package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// A kind is the type of a field's value.
type kind int

const (
	object     kind = iota // a group of fields
	boolean                // true or false
	integer                // a whole number
	number                 // any number
	text                   // a string
	list                   // a list of whole numbers
	table                  // an object of whole numbers; the user chooses the names
	limit                  // a settings.TokenLimit
	words                  // a list of strings; settings.Config.Check knows which
	wordsTable             // an object of such lists; the user chooses the names
)

// A field is one setting, or a group of them, as the types in core declare it.
type field struct {
	key      string // dotted; "" for the root
	name     string // its last part
	doc      string
	kind     kind
	nullable bool
	min, max float64  // inclusive, of every number in it
	length   int      // of a list
	enum     []string // of a text; nil: any
	index    []int    // where settings.Config holds it
	fields   []*field // for an object
}

// fields returns the root of the tree of all settings. It is built by reflection at the first call, so a process without
// settings never builds it.
var fields = sync.OnceValue(func() *field {
	root := &field{kind: object}
	root.addFields(reflect.TypeFor[settings.Config]())
	return root
})

// addFields gives f a field for each field of t.
func (f *field) addFields(t reflect.Type) {
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Tag.Get("json") == "-" {
			continue // not in any file
		}
		child := &field{
			name:  sf.Tag.Get("json"),
			doc:   sf.Tag.Get("doc"),
			index: append(append([]int(nil), f.index...), i),
		}
		child.key = join(f.key, child.name)
		child.min, _ = strconv.ParseFloat(sf.Tag.Get("min"), 64)
		child.max, _ = strconv.ParseFloat(sf.Tag.Get("max"), 64)
		child.length, _ = strconv.Atoi(sf.Tag.Get("len"))
		if enum := sf.Tag.Get("enum"); enum != "" {
			child.enum = strings.Split(enum, "|")
		}
		child.setKind(sf.Type)
		f.fields = append(f.fields, child)
	}
}

// setKind derives the kind from the Go type.
func (f *field) setKind(t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		f.nullable = true
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[settings.TokenLimit]():
		f.kind, f.nullable = limit, true
	case t == reflect.TypeFor[[]int]():
		f.kind = list
	case t == reflect.TypeFor[map[string]int]():
		f.kind = table
	case t == reflect.TypeFor[[]string]():
		f.kind = words
	case t == reflect.TypeFor[map[string][]string]():
		f.kind = wordsTable
	case t.Kind() == reflect.Struct:
		f.kind = object
		f.addFields(t)
	case t.Kind() == reflect.Bool:
		f.kind = boolean
	case t.Kind() == reflect.Int:
		f.kind = integer
	case t.Kind() == reflect.Float64:
		f.kind = number
	case t.Kind() == reflect.String:
		f.kind = text
	default:
		panic(fmt.Sprintf("config: %s has type %v, which settings cannot have", f.key, t))
	}
}

// field returns the member with this name, or nil.
func (f *field) field(name string) *field {
	for _, child := range f.fields {
		if child.name == name {
			return child
		}
	}
	return nil
}

// names returns the names of the members.
func (f *field) names() []string {
	names := make([]string, len(f.fields))
	for i, child := range f.fields {
		names[i] = child.name
	}
	return names
}

// leaves returns the settings in and below f, in the order of their declaration.
func (f *field) leaves() []*field {
	if f.kind != object {
		return []*field{f}
	}
	var all []*field
	for _, child := range f.fields {
		all = append(all, child.leaves()...)
	}
	return all
}

// leaf returns the setting with the dotted key, or nil.
func leaf(key string) *field {
	for _, f := range fields().leaves() {
		if f.key == key {
			return f
		}
	}
	return nil
}

// allowed describes the allowed values in words.
func (f *field) allowed() string {
	between := fmt.Sprintf("from %s to %s", plain(f.min), plain(f.max))
	said := ""
	switch f.kind {
	case object:
		return "an object"
	case boolean:
		said = "true or false"
	case integer:
		said = "a whole number " + between
	case number:
		said = "a number " + between
	case text:
		said = "a string"
		if f.enum != nil {
			last := len(f.enum) - 1
			said = fmt.Sprintf(`"%s" or "%s"`, strings.Join(f.enum[:last], `", "`), f.enum[last])
		}
	case list:
		said = fmt.Sprintf("a list of %d whole numbers %s", f.length, between)
	case table:
		said = "an object of whole numbers " + between
	case words:
		said = "a list of strings"
	case wordsTable:
		said = "an object of lists of strings"
	case limit:
		said = `"auto" or a whole number ` + between
	}
	if f.nullable {
		said += ", or null"
	}
	return said
}

// forWorkspace reports whether a workspace may set f or any of its members.
func (f *field) forWorkspace() bool {
	for _, key := range settings.WorkspaceKeys {
		if f.key == key || strings.HasPrefix(f.key, key+".") || strings.HasPrefix(key, f.key+".") {
			return true
		}
	}
	return false
}

// EnvName returns the variable of the environment that sets the dotted key: reminder.thresholdPercent is set by
// CTXLS_REMINDER_THRESHOLD_PERCENT.
func EnvName(key string) string {
	var b strings.Builder
	b.WriteString(envPrefix)
	for _, r := range key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// join returns the dotted key of name inside group.
func join(group, name string) string {
	if group == "" {
		return name
	}
	return group + "." + name
}

// plain writes a bound without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
