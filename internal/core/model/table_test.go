package model

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/settings"
)

func TestParseModel(t *testing.T) {
	tests := []struct {
		in   string
		want Name
	}{
		{"claude-opus-4-6", Name{Plain: "claude-opus-4-6"}},
		{"Claude-Opus-4-6[1M]", Name{Plain: "claude-opus-4-6", Million: true}},
		{"anthropic/claude-opus-4.6:thinking", Name{Plain: "claude-opus-4-6"}},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", Name{Plain: "claude-sonnet-4-5", Provider: "amazon-bedrock"}},
		{"arn:aws:bedrock:eu-west-1:0123:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", Name{Plain: "claude-sonnet-4-5", Provider: "amazon-bedrock"}},
		{"claude-sonnet-4-5@20250929", Name{Plain: "claude-sonnet-4-5", Provider: "google-vertex"}},
		{"models/gemini-2.5-pro", Name{Plain: "gemini-2.5-pro"}},
		{"gpt-4o-2024-08-06", Name{Plain: "gpt-4o"}},
		{"openai/gpt-5.4", Name{Plain: "gpt-5.4"}},
		{"claude-3-5-sonnet-latest", Name{Plain: "claude-3-5-sonnet"}},
		{"", Name{}},
	}
	for _, tt := range tests {
		if got := Parse(tt.in); got != tt.want {
			t.Errorf("ParseModel(%q) = %+v, want %+v", tt.in, got, tt.want)
		}
	}
}

func TestGlobMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abbc", true},
		{"a*b*c", "a1b2c", true}, {"a*b*c", "a1c2b", false}, {"ab*ba", "aba", false}, {"*x*", "y", false},
	} {
		if got := globMatch(tt.pattern, tt.s); got != tt.want {
			t.Errorf("globMatch(%q, %q) = %v", tt.pattern, tt.s, got)
		}
	}
}

// Every row must name its source and be reachable: no other row may always match first.
func TestWindowTable(t *testing.T) {
	data, err := os.ReadFile("windows.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Updated string
		Rows    []WindowRow
	}
	if err := json.Unmarshal(data, &table); err != nil || table.Updated == "" {
		t.Fatalf("windows.json: updated %q, %v", table.Updated, err)
	}
	if diff := cmp.Diff(table.Rows, WindowTable()); diff != "" {
		t.Errorf("windows_gen.go is not windows.json: run go generate ./internal/core/model (-json +go):\n%s", diff)
	}
	for _, row := range WindowTable() {
		if row.Source == "" || row.WindowTokens <= 0 || row.InputTokens > row.WindowTokens || row.OutputTokens > row.WindowTokens {
			t.Errorf("row %+v is incomplete", row)
		}
		if plain := strings.TrimSuffix(row.Model, "*"); plain != Plain(plain) {
			t.Errorf("row %q is not in its plain spelling %q", row.Model, Plain(plain))
		}
		w := lookUp(row.Host, row.UpTo, row.Provider, Name{Plain: strings.Replace(row.Model, "*", "x", 1)})
		if w.Tokens != row.WindowTokens {
			t.Errorf("row %+v is hidden: %d tokens, %s", row, w.Tokens, w.Why)
		}
	}
}

// An older Claude Code may not know a model. Where its window is that of the table in any case, it is no guess.
func TestWindowInAnOlderHost(t *testing.T) {
	for model, want := range map[string]string{
		"claude-opus-4-5": "table: claude-opus-4-5 (platform.claude.com model overview, 2026-09)",
		"claude-new-9":    "claude-new-9 is not in the table: Claude Code 2.1.220 takes 200,000 for a model it does not know",
	} {
		w := Resolve(Input{Host: "claude-code", Version: "2.1.12", Model: model}, settings.Default().Window, CompactionRule{})
		if w.Tokens != 200_000 || w.Why != want || w.Guessed() != (model == "claude-new-9") {
			t.Errorf("%s: %d tokens, guessed %v: %s", model, w.Tokens, w.Guessed(), w.Why)
		}
	}
}
