package generic

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// docs/generic-events.schema.json (draft 2020-12) is what the types say. -update writes it.
func TestSchema(t *testing.T) {
	variants := []object{}
	for _, o := range occurrences {
		variant := schemaOf(reflect.TypeFor[Event](), o.name)
		variant["title"], variant["description"] = o.name, o.doc
		properties := variant["properties"].(object)
		properties["event"] = object{"const": o.name}
		if o.accepts != nil {
			accepts := properties["accepts"].(object)
			accepts["default"] = o.accepts
		}
		variants = append(variants, variant)
	}
	effects := object{"type": "array", "items": object{"oneOf": []object{
		effect("text", object{"type": "string", "maxLength": session.MaxInjectedChars}, string(session.Inject), string(session.AppendToolOutput)),
		effect("lines", object{"type": "array", "items": object{"type": "string"}}, string(session.CompactionContext)),
	}}}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "An event of an agent, as ctxls takes it from any host",
		"description": "Version 1. What is null counts as absent.",
		"oneOf":       variants,
		"$defs": object{"answer": object{
			"description": "What `ctxls hook generic` prints in return.", "type": "object", "required": []string{"version", "effects"},
			"properties": object{"version": object{"const": Version}, "effects": effects},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	hosttest.Golden(t, "../../../docs/generic-events.schema.json", got.Bytes())
}

type object = map[string]any

func effect(member string, schema object, kinds ...string) object {
	return object{"type": "object", "required": []string{"kind", member}, "properties": object{"kind": object{"enum": kinds}, member: schema}}
}

// schemaOf returns the schema of an object in an event.
func schemaOf(t reflect.Type, event string) object {
	properties, required := object{}, []string{}
	for _, m := range membersOf(t) {
		if !m.takenBy(event) {
			continue
		}
		properties[m.name] = m.schema(event)
		if m.need {
			required = append(required, m.name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func (m member) schema(event string) object {
	s := object{"description": m.doc}
	element := func(t reflect.Type) object {
		if t.Kind() == reflect.Struct {
			return schemaOf(t, event)
		}
		return object{"type": "string", "enum": m.enum}
	}
	switch {
	case m.kind == reflect.TypeFor[json.RawMessage]():
	case m.kind.Kind() == reflect.Slice:
		s["type"], s["items"] = "array", element(m.kind.Elem())
	case m.kind.Kind() == reflect.Bool:
		s["type"] = "boolean"
	case m.kind.Kind() == reflect.Int:
		s["type"], s["minimum"], s["maximum"] = "integer", m.min, m.max
	default:
		s["type"] = "string"
		if m.enum != nil {
			s["enum"] = m.enum
		} else {
			s["maxLength"] = m.max
		}
		if m.need && m.enum == nil {
			s["minLength"] = 1
		}
	}
	return s
}
