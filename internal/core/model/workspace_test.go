package model

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// The author of a repository chooses its workspace settings. None of these values can hide a full window.
func TestAWorkspacesWindowIsBounded(t *testing.T) {
	window := func(model string, host int, user, workspace map[string]int, accepted int) Window {
		cfg := settings.Default().Window
		cfg.Overrides, cfg.Workspace = user, settings.WorkspaceWindow{Source: "/repo/.ctxls.json", Overrides: workspace}
		return Resolve(Input{Host: "codex", Model: model, Limits: Limits{WindowTokens: host}, Learned: Learned{AcceptedTokens: accepted}}, cfg, CompactionRule{})
	}
	for _, test := range []struct {
		name      string
		host      int
		user      map[string]int
		workspace int
		accepted  int
		want      int
		from      WindowProvenance
	}{
		{"a window that no model has", 0, nil, 1, 0, 200_000, WindowFromTable},
		{"one that a model has", 0, nil, 400_000, 0, 400_000, WindowFromWorkspace},
		{"a smaller one that a model has", 0, nil, 128_000, 0, 128_000, WindowFromWorkspace},
		{"larger than the user's", 0, map[string]int{"*": 150_000}, 1_000_000, 0, 150_000, WindowFromConfig},
		{"smaller than the user's", 0, map[string]int{"*": 1_000_000}, 200_000, 0, 200_000, WindowFromWorkspace},
		{"other than the host's", 258_400, nil, 1_000_000, 0, 258_400, WindowFromHost},
		{"smaller than the host's", 258_400, nil, 128_000, 0, 258_400, WindowFromHost},
		{"smaller than what was accepted", 0, nil, 128_000, 180_000, 200_000, WindowFromTable},
	} {
		got := window("claude-haiku-4-5", test.host, test.user, map[string]int{"*": test.workspace}, test.accepted)
		if got.Tokens != test.want || got.Provenance != test.from {
			t.Errorf("%s: %d from %s; want %d from %s", test.name, got.Tokens, got.Provenance, test.want, test.from)
		}
		if named := strings.Contains(got.Why, "/repo/.ctxls.json"); named != (got.Provenance == WindowFromWorkspace) {
			t.Errorf("%s: %q", test.name, got.Why)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		asked := rapid.IntRange(1, 1<<40).Draw(t, "asked")
		without, with := window("some-model", 0, nil, nil, 0), window("some-model", 0, nil, map[string]int{"*": asked}, 0)
		if with.Tokens != without.Tokens && !HasWindow(with.Tokens) {
			t.Errorf("%d made a window of %d", asked, with.Tokens)
		}
	})
}
