package contextfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/session"
)

// findings returns the findings of a load as "FILE CODE TEXT", with the text that each marks.
func findings(c capture, files *Reader, l *Load) (all []string) {
	for _, f := range l.Findings {
		rel, _ := filepath.Rel(c.dir, f.Path)
		all = append(all, fmt.Sprintf("%s %s %q", filepath.ToSlash(rel), f.Code, files.Text(f.Path)[f.Start:f.End]))
	}
	slices.Sort(all)
	return all
}

// Each import that the model did not get is reported at its place, and nothing that is no defect.
func TestFindings(t *testing.T) {
	for _, test := range []struct {
		capture, dir string
		host         session.Host
		want         []string
	}{
		{"claude-outside", "par/project", session.HostClaudeCode, []string{
			`par/project/.claude/skills/long/SKILL.md description-cut ""`,
			`par/project/.claude/skills/long2/SKILL.md description-cut ""`,
			`par/project/.claude/skills/long2/SKILL.md listing-over-budget ""`,
			`par/project/CLAUDE.md import-kind "@docs/"`,
			`par/project/CLAUDE.md import-kind "@docs/pic.png"`,
			`par/project/CLAUDE.md import-kind "@docs/thing.xyz"`,
			`par/project/CLAUDE.md import-missing "@docs/none.md"`,
			`par/project/CLAUDE.md import-outside "@../../outside.md"`,
			`par/project/CLAUDE.md import-outside "@~/h.md"`,
			`par/project/CLAUDE.md import-punctuation "@docs/paren.md"`,
			`par/project/CLAUDE.md import-punctuation "@docs/punct.md,"`,
			`par/project/CLAUDE.md import-punctuation "@docs/quoted.md"`,
			`par/project/docs/circ2.md import-circular "@../CLAUDE.md"`,
			`par/project/docs/circ2.md import-circular "@circ1.md"`,
			`par/project/docs/d.md import-too-deep "@e.md"`,
		}},
		{"codex-cap", "par/project/mid/deep", session.HostCodex, []string{
			`par/project/mid/deep/OTHER.md file-dropped ""`,
		}},
		{"gemini", "par/project/mid", session.HostGeminiCLI, []string{
			`par/project/GEMINI.md import-circular "@docs/circ1.md"`,
			`par/project/GEMINI.md import-missing "@docs/none.md"`,
			`par/project/GEMINI.md import-outside "@../../outside.md"`,
			`par/project/GEMINI.md import-punctuation "@docs/ga.md,"`,
			`par/project/GEMINI.md loaded-twice "@./docs/gb.md"`,
			`par/project/GEMINI.md loaded-twice "@docs/ga.md"`,
			`par/project/GEMINI.md loaded-twice "@docs/gempty.md"`,
			`par/project/docs/circ2.md import-circular "@circ1.md"`,
			`par/project/mid/l5.md import-too-deep "@l6.md"`,
		}},
	} {
		c := readCapture(t, test.capture)
		env := c.env(test.dir)
		l, err := Read(env, test.host)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, findings(c, env.Files, l)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.capture, diff)
		}
	}
}

// The fix of an import removes the punctuation, and the import is loaded.
func TestFix(t *testing.T) {
	c := readCapture(t, "claude-outside")
	path := filepath.Join(c.dir, "par", "project", "CLAUDE.md")
	env := c.env("par/project")
	l, _ := Read(env, session.HostClaudeCode)
	fixes := 0
	for _, f := range l.Findings {
		if f.Fix == nil {
			continue
		}
		fixes++
		text := env.Files.Text(path)
		env.Files = env.Files.Over(Overlay{FS: env.Files.FS, Buffers: map[string][]byte{path: []byte(text[:f.Fix.Start] + f.Fix.NewText + text[f.Fix.End:])}})
	}
	l, _ = Read(env, session.HostClaudeCode)
	if fixes != 1 || !strings.Contains(l.find("memory").Text(), "IMP punct.md") {
		t.Errorf("%d fixes\n%s", fixes, l.find("memory").Text())
	}
	if saved, err := os.ReadFile(path); err != nil || !strings.Contains(string(saved), "@docs/punct.md,") {
		t.Errorf("the file on the disk has changed: %v", err)
	}
}
