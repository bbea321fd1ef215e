package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// For any bytes: no panic; every problem has a place within the text and no control characters; Check accepts the
// resulting settings; and if there is no problem, encoding/json reads the same values.
func FuzzParse(f *testing.F) {
	cases, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range cases {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(data).Files {
			f.Add(file.Data)
		}
	}
	f.Add([]byte("\ufeff{\"levels\":[1,2,3,],/**/}//"))
	f.Add([]byte(`{"window": {"overrides": {"a": 1e5, "\ud800": 1}}, "usage": {"countOutput": null}}`))
	f.Add([]byte("{\"log\": {\"level\": \"\x1b]0;\u2028\"}}"))
	f.Add([]byte(strings.Repeat(`{"window":[`, 1000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, workspace := range []bool{false, true} {
			l := parse("file", data, workspace)
			config, problems := l.applyTo(settings.Default())
			for _, p := range problems {
				checkProblem(t, bytes.TrimPrefix(data, []byte("\ufeff")), p)
			}
			if wrong := config.Check(); len(wrong) > 0 {
				t.Errorf("let pass: %v", wrong)
			}
			if !workspace && len(problems) == 0 {
				checkMeaning(t, data, config)
			}
		}
	})
}

// checkProblem compares a problem with its text.
func checkProblem(t *testing.T, text []byte, p Problem) {
	lines := strings.Split(string(text), "\n")
	if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+1 {
		t.Errorf("outside of the text of %d lines: %s", len(lines), p)
	}
	if p.Message == "" || strings.ContainsFunc(p.String(), unprintable) || len(p.String()) > 2000 {
		t.Errorf("not fit to be shown: %q", p)
	}
}

// checkMeaning compares the result with the standard library's. The library accepts fewer forms of whole numbers (2e5,
// 1.0). If it refuses the text, there is no comparison.
func checkMeaning(t *testing.T, data []byte, got settings.Config) {
	plain, err := hujson.Standardize(append(bytes.TrimPrefix(bytes.Clone(data), []byte("\ufeff")), '\n'))
	if err != nil && len(bytes.TrimSpace(data)) > 0 && !bytes.HasPrefix(data, []byte("\ufeff")) {
		t.Fatalf("took what is no JSON with comments: %v", err)
	}
	want := settings.Default()
	if err == nil && json.Unmarshal(plain, &want) == nil {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-encoding/json +got):\n%s", diff)
		}
	}
}

// The tree of fields matches the types and their tags, and every number has bounds.
func TestFieldsAreBounded(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range fields().leaves() {
		if f.doc == "" {
			t.Errorf("%s: no doc", f.key)
		}
		if seen[EnvName(f.key)] {
			t.Errorf("%s: another setting has the variable %s", f.key, EnvName(f.key))
		}
		seen[EnvName(f.key)] = true
		switch f.kind {
		case integer, number, list, table, limit:
			if f.min >= f.max {
				t.Errorf("%s: from %v to %v", f.key, f.min, f.max)
			}
		}
		if f.kind == list && f.length == 0 {
			t.Errorf("%s: a list without a length", f.key)
		}
	}
	for _, key := range settings.WorkspaceKeys {
		group, _, _ := strings.Cut(key, ".")
		if leaf(key) == nil && fields().field(group) == nil {
			t.Errorf("workspace key %s is no setting", key)
		}
	}
}
