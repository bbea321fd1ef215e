package config_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core/settings"
)

var update = flag.Bool("update", false, "rewrite the documents and the wanted parts of testdata")

const (
	reference = "../../docs/configuration.md"
	schema    = "../../docs/config.schema.json"
	marker    = "<!-- made from the types by go test ./internal/config -update: do not edit below -->\n"
)

// The documents in docs/ match the types.
func TestDocumentsAreCurrent(t *testing.T) {
	text := readString(t, reference)
	prose, _, found := strings.Cut(text, marker)
	if !found {
		t.Fatalf("%s has no line %q", reference, marker)
	}
	for path, want := range map[string]string{
		reference: prose + marker + "\n" + config.Reference(),
		schema:    string(config.Schema()),
	} {
		if *update {
			writeString(t, path, want)
		}
		if got := readString(t, path); got != want {
			t.Errorf("%s is not what the types say; run go test ./internal/config -update\n%s", path, cmp.Diff(want, got))
		}
	}
}

// Every example in the reference loads, changes something, and sets the keys it shows.
func TestExamples(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```jsonc\n// ([^\n]*)\n(.*?)```\n(?:\n```text\n(.*?)```)?").FindAllStringSubmatch(readString(t, reference), -1)
	if len(blocks) < 6 {
		t.Fatalf("found %d examples, want all of the reference", len(blocks))
	}
	for _, block := range blocks {
		name, mistakes := strings.CutSuffix(block[1], ", with mistakes")
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		writeString(t, path, "// "+block[1]+"\n"+block[2])
		var problems []string
		for _, p := range config.CheckFile(path) {
			problems = append(problems, strings.TrimPrefix(p.String(), dir+string(filepath.Separator))+"\n")
		}
		if diff := cmp.Diff(block[3], strings.Join(problems, "")); diff != "" {
			t.Errorf("%s\nproblems (-shown +got):\n%s", block[0], diff)
		}
		if mistakes {
			continue
		}
		sources := config.Sources{UserFile: path}
		if name == ".ctxls.json" {
			sources = config.Sources{CWD: dir}
		}
		got, _ := config.Load(sources)
		if reflect.DeepEqual(got, settings.Default()) {
			t.Errorf("this example changes nothing:\n%s", block[2])
		}
	}
}

// The schema describes every setting, with a default of its type and within its own bounds.
func TestSchemaIsComplete(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(config.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	var defaults map[string]any
	data, _ := json.Marshal(settings.Default())
	if err := json.Unmarshal(data, &defaults); err != nil {
		t.Fatal(err)
	}
	compareSchema(t, "", root, defaults)
}

func compareSchema(t *testing.T, key string, schema, defaults map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range defaults {
		at := strings.TrimPrefix(key+"."+name, ".")
		node, ok := properties[name].(map[string]any)
		if !ok {
			t.Errorf("%s is not in the schema", at)
			continue
		}
		if node["description"] == "" || node["description"] == nil {
			t.Errorf("%s has no description", at)
		}
		if group, ok := value.(map[string]any); ok && node["properties"] != nil {
			if node["additionalProperties"] != false {
				t.Errorf("%s lets unknown keys through", at)
			}
			compareSchema(t, at, node, group)
			continue
		}
		if diff := cmp.Diff(value, node["default"]); diff != "" {
			t.Errorf("%s: default (-in force +in the schema):\n%s", at, diff)
		}
		if !boundsNumbers(node) {
			t.Errorf("%s: a number without minimum and maximum: %v", at, node)
		}
	}
}

// boundsNumbers reports whether every number in node has a minimum below its maximum.
func boundsNumbers(node map[string]any) bool {
	types, _ := node["type"].([]any)
	for _, name := range append(types, node["type"]) {
		if name == "integer" || name == "number" {
			low, _ := node["minimum"].(float64)
			high, ok := node["maximum"].(float64)
			return ok && low < high
		}
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		if n, ok := node[inner].(map[string]any); ok && !boundsNumbers(n) {
			return false
		}
	}
	choices, _ := node["anyOf"].([]any)
	for _, n := range choices {
		if !boundsNumbers(n.(map[string]any)) {
			return false
		}
	}
	return true
}

func readString(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n") // a checkout on Windows may have converted it
}

func writeString(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
