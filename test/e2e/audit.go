//go:build linux && e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/session"
)

// ContextFiles writes memory files of every host into the project, the directory above it and the home directory: with imports, rules,
// punctuation, files outside, and AGENTS.md where it counts.
func (w *Sandbox) ContextFiles() {
	w.T.Helper()
	above := filepath.Dir(w.Project)
	for name, text := range map[string]string{
		filepath.Join(w.Project, ".git", "HEAD"):                     "ref: refs/heads/main\n",
		filepath.Join(w.Project, ".git", "config"):                   "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		filepath.Join(w.Project, ".git", "objects", ".keep"):         "",
		filepath.Join(w.Project, ".git", "refs", "heads", ".keep"):   "",
		filepath.Join(above, "CLAUDE.md"):                            "Above @up.md\n",
		filepath.Join(above, "up.md"):                                "Up\n",
		filepath.Join(above, "AGENTS.md"):                            "Agents above\n",
		filepath.Join(above, "GEMINI.md"):                            "Gemini above\n",
		filepath.Join(w.Project, "AGENTS.md"):                        "---\nx: y\n---\nAgents here, see @docs/a.md\n\n",
		filepath.Join(w.Project, "GEMINI.md"):                        "Gemini here @docs/a.md `@docs/b.md` @docs/a.md @docs/none.md @../up.md\n",
		filepath.Join(w.Project, "CLAUDE.md"):                        "# Shop\n\nSee @docs/a.md and @docs/b.md, but `@docs/c.md`.\n\n<!-- not sent -->\n\n- in a list ` @docs/d.md `\n- up @../up.md\n",
		filepath.Join(w.Project, "CLAUDE.local.md"):                  "Mine @docs/c.md\n",
		filepath.Join(w.Project, ".claude", "CLAUDE.md"):             "Dot\n",
		filepath.Join(w.Project, ".claude", "rules", "z.md"):         "Rule z\n",
		filepath.Join(w.Project, ".claude", "rules", "go.md"):        "---\npaths: \"**/*.go\"\n---\nRule go @../../docs/e.md\n",
		filepath.Join(w.Project, ".claude", "rules", "deep", "a.md"): "Rule a\n",
		filepath.Join(w.Project, "docs", "a.md"):                     "---\nx: y\n---\nA imports @b.md\n",
		filepath.Join(w.Project, "docs", "b.md"):                     "B\n",
		filepath.Join(w.Project, "docs", "c.md"):                     "C\r\nC2\r\n",
		filepath.Join(w.Project, "docs", "d.md"):                     "D <!-- c -->\n<!-- block -->\nend\n",
		filepath.Join(w.Project, "docs", "e.md"):                     "E\n",
		filepath.Join(w.Home, ".claude", "CLAUDE.md"):                "User @~/u.md\n",
		filepath.Join(w.Home, ".claude", "rules", "u.md"):            "User rule\n",
		filepath.Join(w.Home, "u.md"):                                "Imported by the user\n",
		filepath.Join(w.Home, ".codex", "AGENTS.md"):                 "\nCodex of the user\n\n",
		filepath.Join(w.Home, ".gemini", "GEMINI.md"):                "Gemini of the user\n",
		filepath.Join(w.Home, ".config", "opencode", "AGENTS.md"):    "OpenCode of the user\n",
	} {
		w.Write(name, text)
	}
}

// Memory returns the part "memory" of what ctxls says that a session of a host would hold, and its files in the order of the request.
func (w *Sandbox) Memory(host session.Host) (part audit.AuditPart, files []audit.AuditItem) {
	w.T.Helper()
	var report audit.AuditReport
	if err := json.Unmarshal([]byte(w.CTXLS("audit", "--json", "--host", string(host))), &report); err != nil {
		w.T.Fatal(err)
	}
	for _, p := range report.Hosts[0].Parts {
		if p.Name == "memory" {
			part = p
		}
	}
	var collect func(items []audit.AuditItem)
	collect = func(items []audit.AuditItem) {
		for _, item := range items {
			if item.When == contextfiles.AtStart && !item.Inlined {
				files = append(files, item)
			}
			collect(item.Items)
		}
	}
	collect(part.Items)
	slices.SortFunc(files, func(a, b audit.AuditItem) int { return a.Order - b.Order })
	if len(files) == 0 {
		w.T.Fatal("ctxls finds no memory files")
	}
	return part, files
}

// SameMemory compares what ctxls says of a host's memory with the block that the model received: the bytes in all, and each file, in
// its order, behind its heading.
func (w *Sandbox) SameMemory(host session.Host, block string, heading func(path string) string) {
	w.T.Helper()
	part, files := w.Memory(host)
	if *part.Bytes != len(block) {
		w.T.Errorf("%s: ctxls says %d bytes, the model received %d:\n%s", host, *part.Bytes, len(block), block)
	}
	rest := block
	for _, file := range files {
		_, after, found := strings.Cut(rest, heading(file.Path))
		if !found {
			w.T.Errorf("%s: %s is not in its place in\n%s", host, file.Path, block)
			continue
		}
		rest = after
	}
	if n := strings.Count(block, heading("")); heading("") != "" && n != len(files) {
		w.T.Errorf("%s: ctxls says %d files, the model received %d", host, len(files), n)
	}
}
