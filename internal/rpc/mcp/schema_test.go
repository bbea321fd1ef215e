package mcp

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ctxls/ctxls/internal/core/conversation"
)

// What is returned keeps the schemas, and every member of them is described. What is asked keeps its own.
func TestSchemas(t *testing.T) {
	s := newService(t)
	p := connect(t, Options{Service: s, Folders: []string{"/home/me/a"}})
	p.greet("{}")
	var list struct {
		Result struct {
			Tools []struct {
				Name, Description         string
				InputSchema, OutputSchema *jsonschema.Schema
				Annotations               struct{ ReadOnlyHint, IdempotentHint bool }
			}
		}
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if err := json.Unmarshal([]byte(p.receive()), &list); err != nil || len(list.Result.Tools) != len(tools) {
		t.Fatalf("%v, %d tools", err, len(list.Result.Tools))
	}
	keeps := func(tool, arguments string) {
		t.Helper()
		for _, l := range list.Result.Tools {
			if l.Name != tool {
				continue
			}
			for data, schema := range map[string]*jsonschema.Schema{arguments: l.InputSchema, p.call(tool, arguments).data(t): l.OutputSchema} {
				resolved, err := schema.Resolve(nil)
				if err != nil {
					t.Fatal(err)
				}
				var value any
				if err := json.Unmarshal([]byte(data), &value); err != nil {
					t.Fatalf("%s: %v", data, err)
				}
				if err := resolved.Validate(value); err != nil {
					t.Errorf("%s %s: %v", tool, data, err)
				}
			}
		}
	}
	keeps("inspect_state", `{}`) // of an empty store
	reported(t, s, "s1", "/home/me/a", 144_000)
	told(t, s, `{"session_id":"s1","cwd":"/home/me/a","hook_event_name":"SubagentStart","agent_id":"a","agent_type":"b"}`)
	told(t, s, `{"session_id":"s2","cwd":"/home/me/a","hook_event_name":"StopFailure","error_details":"prompt is too long: 210000 tokens > 190000 maximum"}`)
	keeps("inspect_state", `{"limit":7}`)
	keeps("measure_context", `{"text":"hello"}`)
	keeps("measure_context", `{"messages":[{"role":"user","content":"hello"}],"system":"x","tools":[],"model":"gpt-5","provider":"openai","encoding":"o200k_base",`+
		`"framing":"openai","thresholdTokens":5,"windowTokens":10,"breakdown":true}`)

	for _, l := range list.Result.Tools {
		if !l.Annotations.ReadOnlyHint || !l.Annotations.IdempotentHint || len(l.Description) < 100 || len(l.Description) > 1000 {
			t.Errorf("%s: %+v, a description of %d bytes", l.Name, l.Annotations, len(l.Description))
		}
		for _, schema := range []*jsonschema.Schema{l.InputSchema, l.OutputSchema} {
			for _, part := range append(slices.Collect(maps.Values(schema.Defs)), schema) {
				for name, member := range part.Properties {
					if member.Description == "" {
						t.Errorf("%s: %s is not described", l.Name, name)
					}
				}
			}
		}
	}
	// What may be asked is what is listed.
	var text *string
	for i, known := range []map[string]argument{inspectArguments(new(int)), measureArguments(new(conversation.MeasureRequest), &text)} {
		var schema jsonschema.Schema
		if err := json.Unmarshal([]byte(tools[i].input), &schema); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(schema.Properties)), slices.Sorted(maps.Keys(known))); diff != "" {
			t.Errorf("%s: arguments (-listed +known):\n%s", tools[i].name, diff)
		}
	}
}

// Everything that context/measure takes can be asked of the tool.
func TestMeasureTakesWhatTheDomainTakes(t *testing.T) {
	var text *string
	known := measureArguments(new(conversation.MeasureRequest), &text)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[conversation.MeasureRequest]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && known[name].into == nil {
			t.Errorf("%s cannot be asked", name)
		}
	}
}
