package config

import (
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/tailscale/hujson"
)

// A setting is a checked value for one field.
type setting struct {
	field *field
	name  string // the entry, for a table
	value any    // bool, int, float64, string, []int, []string or settings.TokenLimit; nil is null
}

// applyTo sets the value in config.
func (s setting) applyTo(config *settings.Config) {
	at := reflect.ValueOf(config).Elem().FieldByIndex(s.field.index)
	switch {
	case s.value == nil:
		at.SetZero() // a nil pointer, or a limit that is turned off
	case s.field.kind == table, s.field.kind == wordsTable:
		at.SetMapIndex(reflect.ValueOf(s.name), reflect.ValueOf(s.value))
	case at.Kind() == reflect.Pointer:
		at.Set(reflect.New(at.Type().Elem()))
		at.Elem().Set(reflect.ValueOf(s.value))
	default:
		at.Set(reflect.ValueOf(s.value))
	}
}

// literal returns the value of v, if f accepts it.
func (f *field) literal(v hujson.Value) (value any, ok bool) {
	lit := v.Value.(hujson.Literal)
	if lit.Kind() == 'n' {
		return nil, f.nullable
	}
	switch f.kind {
	case boolean:
		return lit.Bool(), lit.Kind() == 't' || lit.Kind() == 'f'
	case text:
		return lit.String(), lit.Kind() == '"' && (f.enum == nil || slices.Contains(f.enum, lit.String()))
	case number:
		return f.number(v)
	case integer:
		return f.integer(v)
	case limit:
		if lit.Kind() == '"' {
			return settings.TokenLimit{Auto: true}, lit.String() == "auto"
		}
		n, ok := f.integer(v)
		return settings.TokenLimit{Tokens: n}, ok
	}
	return nil, false
}

// number returns the number in v, if it is within the bounds.
func (f *field) number(v hujson.Value) (float64, bool) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '0' {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(lit), 64)
	return x, err == nil && f.min <= x && x <= f.max
}

// integer returns the whole number in v, if it is within the bounds. 2e5 and 1.0 are whole numbers, as in JSON Schema.
func (f *field) integer(v hujson.Value) (int, bool) {
	x, ok := f.number(v)
	return int(x), ok && x == math.Trunc(x)
}

// show formats v for a message: a literal unchanged but clipped and escaped, and any larger value by its kind.
func show(v hujson.Value) string {
	switch value := v.Value.(type) {
	case *hujson.Object:
		return "an object"
	case *hujson.Array:
		if n := len(value.Elements); n != 1 {
			return "a list of " + strconv.Itoa(n)
		}
		return "a list of one"
	case hujson.Literal:
		if value.Kind() == '"' {
			return strconv.Quote(clip(value.String()))
		}
		return clip(string(value))
	}
	return "nothing"
}
