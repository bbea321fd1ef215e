package config

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// schemaNode is the part of JSON Schema that the settings need, with its members in reading order.
type schemaNode struct {
	Schema      string          `json:"$schema,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Type        any             `json:"type,omitempty"` // a name, or several
	AnyOf       []*schemaNode   `json:"anyOf,omitempty"`
	Const       any             `json:"const,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     *float64        `json:"minimum,omitempty"`
	Maximum     *float64        `json:"maximum,omitempty"`
	MinItems    int             `json:"minItems,omitempty"`
	MaxItems    int             `json:"maxItems,omitempty"`
	Items       *schemaNode     `json:"items,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Properties  properties      `json:"properties,omitempty"`
	Additional  any             `json:"additionalProperties,omitempty"` // false, or the schema of other members
}

// property is a member of an object under its name.
type property struct {
	name string
	node *schemaNode
}

// properties is an object with a fixed order.
type properties []property

// MarshalJSON writes the members in order.
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, member := range p {
		b.WriteByte("{,"[min(i, 1)])
		b.Write(unescaped(member.name))
		b.WriteByte(':')
		b.Write(unescaped(member.node))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Schema returns the JSON Schema (draft 2020-12) of a file of settings, with a line end. It is made from the types in
// core: their descriptions, defaults, bounds and choices.
func Schema() []byte {
	root := fields().schema()
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "ctxls"
	root.Description = "The settings of ctxls: config.json of the user, or .ctxls.json of a workspace. Comments and trailing commas are allowed."
	location := &schemaNode{Type: "string", Description: "Where this schema is, for editors."}
	root.Properties = append(properties{{"$schema", location}}, root.Properties...)
	var b bytes.Buffer
	if err := json.Indent(&b, unescaped(root), "", "  "); err != nil {
		panic("config: the schema is no JSON: " + err.Error())
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// schema returns the schema of one field.
func (f *field) schema() *schemaNode {
	n := &schemaNode{Description: f.doc, Default: f.defaultJSON()}
	whole := &schemaNode{Type: "integer", Minimum: &f.min, Maximum: &f.max}
	switch f.kind {
	case object:
		n.Type, n.Default, n.Additional = "object", nil, false
		for _, child := range f.fields {
			n.Properties = append(n.Properties, property{child.name, child.schema()})
		}
	case boolean:
		n.Type = "boolean"
	case integer:
		n.Type, n.Minimum, n.Maximum = "integer", &f.min, &f.max
	case number:
		n.Type, n.Minimum, n.Maximum = "number", &f.min, &f.max
	case text:
		n.Type, n.Enum = "string", f.enum
	case list:
		n.Type, n.Items, n.MinItems, n.MaxItems = "array", whole, f.length, f.length
	case table:
		n.Type, n.Additional = "object", whole
	case words:
		n.Type, n.Items = "array", &schemaNode{Type: "string"}
	case wordsTable:
		n.Type, n.Additional = "object", &schemaNode{Type: "array", Items: &schemaNode{Type: "string"}}
	case limit:
		n.AnyOf = []*schemaNode{{Const: "auto"}, whole, {Type: "null"}}
	}
	if f.nullable && f.kind != limit {
		n.Type = []any{n.Type, "null"}
	}
	return n
}

// defaultJSON returns the default as JSON, nil for the root.
func (f *field) defaultJSON() json.RawMessage {
	if f.index == nil {
		return nil
	}
	return unescaped(reflect.ValueOf(settings.Default()).FieldByIndex(f.index).Interface())
}

// unescaped returns v as JSON without escapes for < and >.
func unescaped(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("config: " + err.Error()) // every type here has a JSON form
	}
	return bytes.TrimSpace(b.Bytes())
}
