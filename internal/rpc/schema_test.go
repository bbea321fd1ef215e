package rpc

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/rpc/mcp"
	"github.com/ctxls/ctxls/internal/rpc/rpctest"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// TestSchema compares docs/protocol.json with the Go types: the methods and notifications with JSON Schemas (draft
// 2020-12), and the errors. The results of MCP's tools have schemas too.
func TestSchema(t *testing.T) {
	wantSchema(t, "../../docs/protocol.json", describe(t))
	wantSchema(t, "mcp/outputs.json", object{
		"audit":           describeOne(t, reflect.TypeFor[audit.AuditReport]()),
		"estimate":        describeOne(t, reflect.TypeFor[mcp.Estimate]()),
		"inspect_state":   describeOne(t, reflect.TypeFor[core.Inspection]()),
		"recall":          describeOne(t, reflect.TypeFor[core.Recollection]()),
		"measure_context": describeOne(t, reflect.TypeFor[conversation.Measurement]()),
		"plan":            describeOne(t, reflect.TypeFor[plan.Report]()),
	})
}

// wantSchema compares a file with a schema.
func wantSchema(t *testing.T, file string, schema object) {
	t.Helper()
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(schema); err != nil {
		t.Fatal(err)
	}
	if *rpctest.Update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(got), "\n"), strings.Split(want.String(), "\n")); diff != "" {
		t.Errorf("%s is not what the types say; run go test ./internal/rpc -run Schema -update\n%s", file, diff)
	}
}

// describeOne returns the schema of one type, with the definitions that it needs.
func describeOne(t testing.TB, root reflect.Type) object {
	s := schemas{source: readSource(t, "mcp", "../estimate", "../audit", "../contextfiles", "../core", "../core/conversation", "../core/fleet", "../core/model", "../core/plan", "../core/session", "../core/settings", "../core/survival"), defs: object{}}
	schema := s.structure(root)
	if len(s.defs) > 0 {
		schema["$defs"] = s.defs
	}
	return schema
}

// object is JSON with its members in order of their names.
type object = map[string]any

// describe returns the whole protocol.
func describe(t testing.TB) object {
	s := schemas{source: readSource(t, ".", "../audit", "../contextfiles", "../core", "../core/conversation", "../core/fleet", "../core/model", "../core/plan", "../core/session", "../core/settings", "../core/survival"), defs: object{}}
	calls := object{}
	for name, m := range methods {
		entry := object{"kind": "request", "params": s.params(m.params)}
		if m.result != reflect.TypeFor[any]() {
			entry["result"] = s.of(m.result)
		} else if name != "shutdown" {
			entry["kind"] = "notification"
		} else {
			entry["result"] = object{"type": "null"}
		}
		calls[name] = entry
	}
	tells := object{}
	for name, params := range notifications {
		tells[name] = object{"params": s.of(params)}
	}
	errors := object{}
	for code, number := range transport.Numbers {
		errors[string(code)] = number
	}
	return object{
		"$schema":         "https://json-schema.org/draft/2020-12/schema",
		"title":           "The protocol of ctxls serve",
		"protocolVersion": protocolVersion,
		"methods":         calls,
		"notifications":   tells,
		"errors":          errors,
		"$defs":           s.defs,
	}
}

// schemas makes schemas of Go types. Structs with a name become definitions.
type schemas struct {
	source source
	defs   object
}

// params is of, but says of methods without params that they have none.
func (s schemas) params(t reflect.Type) object {
	if t == reflect.TypeFor[noParams]() {
		return object{"type": "object"}
	}
	return s.of(t)
}

// known are the types that have a JSON form of their own.
var known = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[Moment]():          {"type": []string{"string", "integer"}, "format": "date-time"},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[any]():             {},
	reflect.TypeFor[session.Host]():    {"type": "string"}, // one more is no change of the protocol
	reflect.TypeFor[Folder]():          {"type": []string{"object", "string"}, "properties": object{"uri": object{"type": "string"}}},
}

func (s schemas) of(t reflect.Type) object {
	if schema, ok := known[t]; ok {
		return maps.Clone(schema)
	}
	if t.Name() == "Value" && t.Kind() == reflect.Slice { // an id
		return object{"type": []string{"string", "integer"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		if values := s.source.values[t.Name()]; values != nil {
			return object{"type": "string", "enum": values}
		}
		return object{"type": "string"}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		if t.Name() == "" {
			return s.structure(t)
		}
		if s.defs[t.Name()] == nil {
			s.defs[t.Name()] = object{} // a type may hold itself
			s.defs[t.Name()] = s.structure(t)
		}
		return object{"$ref": "#/$defs/" + t.Name()}
	}
	panic("no schema for " + t.String())
}

// structure returns the schema of an object. An optional member has omitzero or omitempty in its tag. A required member
// that can be null is a pointer.
func (s schemas) structure(t reflect.Type) object {
	schema, members, required := object{"type": "object"}, object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, tagged := strings.Cut(f.Tag.Get("json"), ",")
		if !tagged && name == "" || name == "-" {
			continue
		}
		member := s.of(f.Type)
		optional := strings.Contains(options, "omit")
		if !optional {
			required = append(required, name)
		}
		if f.Type.Kind() == reflect.Pointer && !optional && t != reflect.TypeFor[RecordParams]() { // where 0 differs from absent
			member = object{"anyOf": []object{member, {"type": "null"}}}
		}
		if doc := s.source.docs[ownerOf(t, f)+"."+f.Name]; doc != "" {
			member["description"] = doc
		}
		members[name] = member
	}
	schema["properties"] = members
	if len(required) > 0 {
		schema["required"] = required
	}
	if doc := s.source.docs[t.Name()]; doc != "" {
		schema["description"] = doc
	}
	return schema
}

// ownerOf returns the name of the struct that declares the field f, which t may embed.
func ownerOf(t reflect.Type, f reflect.StructField) string {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return t.Name()
}

// source is the information that only the Go source has.
type source struct {
	docs   map[string]string   // of a type, and of a field as Type.Field
	values map[string][]string // the constants of a type of strings
}

func readSource(t testing.TB, dirs ...string) source {
	s := source{map[string]string{}, map[string][]string{}}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if group, ok := decl.(*ast.GenDecl); ok {
					for _, spec := range group.Specs {
						s.add(group, spec)
					}
				}
			}
		}
	}
	return s
}

func (s source) add(group *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		kind, ok := spec.Type.(*ast.Ident)
		if !ok || group.Tok != token.CONST || len(spec.Values) != 1 {
			return
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, _ := strconv.Unquote(literal.Value)
			s.values[kind.Name] = append(s.values[kind.Name], value)
		}
	case *ast.TypeSpec:
		s.docs[spec.Name.Name] = docText(group.Doc)
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				s.docs[spec.Name.Name+"."+name.Name] = docText(field.Doc, field.Comment)
			}
		}
	}
}

// docText joins comments to one line.
func docText(groups ...*ast.CommentGroup) string {
	var text []string
	for _, g := range groups {
		text = append(text, strings.Fields(g.Text())...)
	}
	return strings.Join(text, " ")
}

// Members that the schema calls required are required: a call without one is refused, and the message names it.
func TestRequiredMembers(t *testing.T) {
	s := schemas{source: source{}, defs: object{}}
	p := connect(t, transport.Line, Options{Service: newService(t)})
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		m := methods[name]
		if m.mode == atOnce || m.params == reflect.TypeFor[noParams]() {
			continue
		}
		required, _ := s.structure(m.params)["required"].([]string)
		for _, missing := range required {
			params := object{}
			for _, member := range required {
				if member != missing {
					params[member] = exampleValue(member)
				}
			}
			raw, _ := json.Marshal(params)
			p.send(string(jsonrpc2.AppendCall(nil, jsonrpc2.NewNumberID(1), name, raw)))
			r := p.reply()
			if r.Error == nil || r.Error.Code != -32602 || !strings.HasPrefix(r.Error.Message, "params."+missing+": ") {
				t.Errorf("%s without %s: %+v", name, missing, r.Error)
			}
		}
	}
}

func exampleValue(member string) any {
	switch member {
	case "messages":
		return []any{}
	case "tokens":
		return 1
	case "host":
		return session.HostClaudeCode
	}
	return "x"
}
