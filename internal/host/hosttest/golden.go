// Package hosttest is shared by the tests of all adapters: it runs captured payloads and transcripts against golden files.
package hosttest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Glob returns the files that match a pattern. It fails the test if there is none.
func Glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files (%v)", pattern, err)
	}
	return files
}

// ReadFile returns the content of a file.
func ReadFile(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Golden compares got with a golden file, or rewrites that with -update.
func Golden(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if filepath.Separator == '\\' { // what adapters join to a captured path
		got = regexp.MustCompile(`"\\\\home\\\\[^"]*"`).ReplaceAllFunc(got, func(path []byte) []byte { return bytes.ReplaceAll(path, []byte(`\\`), []byte("/")) })
	}
	if diff := cmp.Diff(string(ReadFile(t, file)), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
	}
}

// Show returns a value as JSON without its zero members.
func Show(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(prune(tree)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			switch member = prune(member); member {
			case nil, "", 0.0, false, "0001-01-01T00:00:00Z":
				delete(v, key)
			default:
				v[key] = member
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	}
	return v
}
