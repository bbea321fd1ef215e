package codex

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// schemas are the JSON Schemas of what a hook may print, by event, as the program carries them. SessionEnd has none.
func schemas(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, file := range hosttest.Glob(t, "testdata/schemas/*.command.output.schema.json") {
		var schema map[string]any
		if err := json.Unmarshal(hosttest.ReadFile(t, file), &schema); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		event := ""
		for part := range strings.SplitSeq(name, "-") {
			event += strings.ToUpper(part[:1]) + part[1:]
		}
		all[event] = schema
	}
	return all
}

// violations checks a value against a schema, as far as these schemas go: types, constants, enumerations, required and unknown
// members, and references to definitions.
func violations(root, schema map[string]any, v any, at string) (found []string) {
	if ref, ok := schema["$ref"].(string); ok {
		return violations(root, root["definitions"].(map[string]any)[filepath.Base(ref)].(map[string]any), v, at)
	}
	for _, part := range list(schema["allOf"]) {
		found = append(found, violations(root, part.(map[string]any), v, at)...)
	}
	if want, ok := schema["const"]; ok && v != want {
		found = append(found, fmt.Sprintf("%s: %v, want %v", at, v, want))
	}
	if allowed := list(schema["enum"]); allowed != nil && !slices.Contains(allowed, v) {
		found = append(found, fmt.Sprintf("%s: %v, want one of %v", at, v, allowed))
	}
	switch schema["type"] {
	case "string":
		if _, ok := v.(string); !ok {
			found = append(found, at+": no string")
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			found = append(found, at+": no boolean")
		}
	case "object":
		o, ok := v.(map[string]any)
		if !ok {
			return append(found, at+": no object")
		}
		for _, name := range list(schema["required"]) {
			if _, ok := o[name.(string)]; !ok {
				found = append(found, fmt.Sprintf("%s: no %v", at, name))
			}
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, member := range o {
			if property, ok := properties[name]; ok {
				if s, ok := property.(map[string]any); ok {
					found = append(found, violations(root, s, member, at+"."+name)...)
				}
			} else if schema["additionalProperties"] == false {
				found = append(found, at+": unknown member "+name)
			}
		}
	}
	return found
}

func list(v any) []any { l, _ := v.([]any); return l }

func encode(t interface{ Fatal(...any) }, event string, effects ...session.Effect) string {
	out, err := New(nil).Encode(session.Event{Name: event}, effects)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// Exactly the events whose schema knows additionalContext are answered, and every answer is as the schema wants it.
func TestAnswersAreWhatTheSchemasAllow(t *testing.T) {
	all := schemas(t)
	all["SessionEnd"] = nil
	if len(all) != 12 {
		t.Fatalf("%d schemas", len(all))
	}
	for event, schema := range all {
		takes := strings.Contains(fmt.Sprint(schema), "additionalContext")
		got := encode(t, event, session.Effect{Kind: session.Inject, Text: "[context used: 72%]"})
		if takes != (got != "") || takes != slices.Contains(accepts(event), session.Inject) {
			t.Errorf("%s: additionalContext %v, answered with %q", event, takes, got)
		}
		if !takes {
			continue
		}
		if want := `{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"[context used: 72%]"}}` + "\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		var v any
		if err := json.Unmarshal([]byte(got), &v); err != nil {
			t.Fatal(err)
		}
		for _, problem := range violations(schema, schema, v, event) {
			t.Error(problem)
		}
		// The check itself can fail.
		for _, bad := range []string{`{"hookSpecificOutput":{"hookEventName":"X"}}`, `{"foo":1}`, `{"hookSpecificOutput":{}}`, `{"continue":"no"}`, `[]`} {
			if json.Unmarshal([]byte(bad), &v) != nil || violations(schema, schema, v, event) == nil {
				t.Errorf("%s passes for an answer to %s", bad, event)
			}
		}
	}
}

// Whatever there is to say: nothing, or what the schema allows, within the length that Codex passes on whole.
func TestEncodeStaysWithinTheContract(t *testing.T) {
	all := schemas(t)
	events := []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart", "PreCompact", "PostCompact", "Stop", "SubagentStop", "SessionEnd", "Interrupt", "PermissionRequest", "", "{"}
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[{\x00-\x1f<\x{2028}\x{202e}a😀 ]{0,20}`), rapid.Just(strings.Repeat("😀a", 4000)), rapid.Just("\xff\xfe{"))
	rapid.Check(t, func(rt *rapid.T) {
		event := rapid.SampledFrom(events).Draw(rt, "event")
		var effects []session.Effect
		for range rapid.IntRange(0, 4).Draw(rt, "effects") {
			effects = append(effects, session.Effect{
				Kind: rapid.SampledFrom([]session.EffectKind{session.Inject, session.AppendToolOutput, session.CompactionContext, "other"}).Draw(rt, "kind"),
				Text: text.Draw(rt, "text"), Lines: []string{"a"},
			})
		}
		out := encode(rt, event, effects...)
		if out == "" {
			return
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			rt.Fatalf("%v: %q", err, out)
		}
		if problems := violations(all[event], all[event], v, event); problems != nil || all[event] == nil {
			rt.Fatalf("%s: %q: %v", event, out, problems)
		}
		said := v["hookSpecificOutput"].(map[string]any)["additionalContext"].(string)
		if said == "" || len(said) > 10_000 {
			rt.Fatalf("%d bytes", len(said))
		}
		for _, r := range said {
			if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
				rt.Fatalf("character %q", r)
			}
		}
	})
}
