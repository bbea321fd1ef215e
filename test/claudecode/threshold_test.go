//go:build linux && e2e

package claudecode

import (
	"fmt"
	"testing"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/test/e2e"
)

// The host compacts at the point that ctxls reports, also with the user's settings: not slightly below the point, and
// soon above it.
func TestTheHostCompactsWhereCtxlsSays(t *testing.T) {
	for _, tt := range []struct {
		name  string
		env   []string
		point int
	}{
		{"by default", nil, 167_000},
		{"with a window of its own", []string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW=150k"}, 117_000},
		{"with a percentage", []string{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=72.5"}, 130_500},
	} {
		for tokens, compactions := range map[int]int{tt.point - 10_000: 0, tt.point + 2_000: 1} {
			t.Run(fmt.Sprint(tt.name, " at ", tokens), func(t *testing.T) {
				w := newTestEnv(t, map[string][]e2e.Reply{
					"start": {{Tokens: 40_000, Text: "Begun."}},
					"fill":  {{Tokens: 60_000, Calls: []e2e.Call{read("src/main.go")}}, {Tokens: tokens, Calls: []e2e.Call{read("notes.txt")}}, {Tokens: 45_000, Text: "Filled."}},
				})
				w.Env = append(w.Env, tt.env...)
				w.install()
				w.prompt(one, "[[start]] begin")
				if s, _ := w.Session(one); s.Usage.CompactionRule != model.CompactsAt || *s.Usage.CompactionTokens != tt.point {
					t.Fatalf("ctxls says %s at %v", s.Usage.CompactionRule, s.Usage.CompactionTokens)
				}
				w.prompt(one, "[[fill]] read it all")
				if s, _ := w.Session(one); s.Compactions != compactions {
					t.Errorf("%d compactions, want %d", s.Compactions, compactions)
				}
			})
		}
	}
}

// If compaction is turned off, ctxls reports it, and the host does not compact.
func TestTheHostNeverCompactsWhereItIsOff(t *testing.T) {
	w := newTestEnv(t, map[string][]e2e.Reply{
		"start": {{Tokens: 40_000, Text: "Begun."}},
		"fill":  {{Tokens: 60_000, Calls: []e2e.Call{read("src/main.go")}}, {Tokens: 170_000, Calls: []e2e.Call{read("notes.txt")}}, {Tokens: 171_000, Text: "Filled."}},
	})
	w.Env = append(w.Env, "DISABLE_AUTO_COMPACT=1")
	w.install()
	w.prompt(one, "[[start]] begin")
	w.prompt(one, "[[fill]] read it all")
	s, _ := w.Session(one)
	if u := s.Usage; s.Compactions != 0 || u.CompactionRule != model.CompactsNever || u.ToCompaction != nil || u.RefusalTokens == nil || *u.RefusalTokens != 177_000 {
		t.Errorf("%d compactions, %s, refused at %v", s.Compactions, u.CompactionRule, u.RefusalTokens)
	}
}
