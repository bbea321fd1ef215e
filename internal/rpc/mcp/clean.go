package mcp

import (
	"reflect"

	"github.com/ctxls/ctxls/internal/core/text"
)

// maxText bounds one string in an answer, in characters: the longest path that settings let ctxls show.
const maxText = 4096

// clean sanitizes every string that the pointer v leads to, for a model. These strings come from hosts, transcripts and file names.
func clean(v any) { cleanValue(reflect.ValueOf(v).Elem()) }

func cleanValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(text.Sanitize(v.String(), maxText))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			cleanValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				cleanValue(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			cleanValue(v.Index(i))
		}
	case reflect.Map: // of plain values
		for _, key := range v.MapKeys() {
			safe := reflect.New(key.Type()).Elem()
			safe.Set(key)
			cleanValue(safe)
			value := v.MapIndex(key)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(safe, value)
		}
	}
}
