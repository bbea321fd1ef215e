package contextfiles

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
)

// claudeHops is how many imports in a row Claude Code follows.
const claudeHops = 4

// The header and the labels of Claude Code's memory, as in its requests.
const claudeHeader = "<system-reminder>\nCodebase and user instructions are shown below. Be sure to adhere to these instructions. " +
	"IMPORTANT: These instructions OVERRIDE any default behavior and you MUST follow them exactly as written.\n\n"

var claudeLabels = map[scope]string{
	managed: "organization-managed policy instructions",
	user:    "user's private global instructions for all projects",
	project: "project instructions, checked into the codebase",
	local:   "user's private project instructions, not checked in",
}

// scope says whose a memory file is.
type scope int

const (
	managed scope = iota
	user
	project
	local
)

// claude collects what Claude Code loads.
type claude struct {
	env      Env
	config   string // its configuration directory
	approved bool   // the user allowed imports from outside the project
	seen     map[string]bool
	chain    []string // files that are being imported, outermost first
	load     *Load
	entries  []Entry
}

func readClaude(env Env) *Load {
	c := &claude{env: env, config: env.Getenv("CLAUDE_CONFIG_DIR"), seen: map[string]bool{}, load: &Load{Host: session.HostClaudeCode, Root: env.Dir}}
	if c.config == "" {
		c.config = filepath.Join(env.Home, ".claude")
	}
	c.approved = c.externalApproved()
	c.memory()
	c.checkRules()
	c.load.Parts = append(c.load.Parts,
		c.listAgents(), c.listSkills(),
		Part{Name: "memory", Where: "a reminder in the first user message", Head: claudeHeader, Sep: "\n\n", Tail: "\n</system-reminder>", Entries: c.entries})
	return c.load
}

// externalApproved reports whether the user has allowed imports from outside this project.
func (c *claude) externalApproved() bool {
	file := filepath.Join(c.env.Home, ".claude.json")
	if c.env.Getenv("CLAUDE_CONFIG_DIR") != "" {
		file = filepath.Join(c.config, ".claude.json")
	}
	data, err := c.env.Files.ReadFile(file, 64<<20)
	if err != nil {
		return false
	}
	var state struct {
		Projects map[string]struct {
			Approved bool `json:"hasClaudeMdExternalIncludesApproved"`
		} `json:"projects"`
	}
	if json.Unmarshal(data, &state) != nil {
		return false
	}
	return state.Projects[filepath.ToSlash(c.env.Dir)].Approved
}

// managedDir returns the directory of an organization's instructions.
func managedDir() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

// ancestors returns the directories from the root of the file system, which is left out, to dir.
func ancestors(dir string) (dirs []string) {
	for dir != filepath.Dir(dir) {
		dirs = append(dirs, dir)
		dir = filepath.Dir(dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// memory collects the memory files in the order of the request.
func (c *claude) memory() {
	c.add(filepath.Join(managedDir(), "CLAUDE.md"), managed)
	c.rules(filepath.Join(managedDir(), ".claude", "rules"), managed)
	c.add(filepath.Join(c.config, "CLAUDE.md"), user)
	c.rules(filepath.Join(c.config, "rules"), user)
	dirs := ancestors(c.env.Dir)
	claudeFiles := false
	for _, dir := range dirs {
		c.add(filepath.Join(dir, "CLAUDE.md"), project)
		if own := filepath.Join(dir, ".claude"); own != c.config {
			c.add(filepath.Join(own, "CLAUDE.md"), project)
			c.rules(filepath.Join(own, "rules"), project)
		}
		c.add(filepath.Join(dir, "CLAUDE.local.md"), local)
	}
	for i := range c.entries {
		e := &c.entries[i]
		if e.Kind == KindMemory && e.When == AtStart && !strings.HasPrefix(e.Path, c.config+string(filepath.Separator)) && filepath.Dir(e.Path) != managedDir() {
			claudeFiles = true
		}
	}
	for _, dir := range dirs {
		for _, name := range []string{"AGENTS.md", filepath.Join(".claude", "AGENTS.md")} {
			c.addAgentsFile(filepath.Join(dir, name), dir, claudeFiles)
		}
	}
}

// addAgentsFile adds an AGENTS.md with its imports behind the files of its directory. Claude Code reads it only where the project
// and the directories above have no CLAUDE.md.
func (c *claude) addAgentsFile(path, dir string, claudeFiles bool) {
	doc := c.env.Files.read(path)
	if doc.err != nil {
		return
	}
	if claudeFiles {
		c.entries = append(c.entries, Entry{Kind: KindMemory, Path: path, When: Never, Size: doc.size,
			Reason: "Claude Code reads AGENTS.md only where no CLAUDE.md is there"})
		return
	}
	before := len(c.entries)
	c.add(path, project)
	added := slices.Clone(c.entries[before:])
	c.entries = c.entries[:before]
	added = slices.DeleteFunc(added, func(e Entry) bool {
		return slices.ContainsFunc(c.entries, func(other Entry) bool {
			return e.When == AtStart && other.When == AtStart && c.content(e.Path) == c.content(other.Path)
		})
	})
	at := slices.IndexFunc(c.entries, func(e Entry) bool { return e.Parent == "" && isBelow(c.dirOf(e), dir) })
	if at < 0 {
		at = len(c.entries)
	}
	c.entries = slices.Insert(c.entries, at, added...)
}

// dirOf returns the directory that a memory file or a rule is about; "" for those of the user.
func (c *claude) dirOf(e Entry) string {
	dir := filepath.Dir(e.Path)
	if strings.HasPrefix(e.Path, c.config+string(filepath.Separator)) || strings.HasPrefix(e.Path, managedDir()) {
		return ""
	}
	if own := strings.LastIndex(e.Path, string(filepath.Separator)+".claude"+string(filepath.Separator)); own >= 0 {
		return e.Path[:own]
	}
	return dir
}

// isBelow reports whether a path lies below a directory.
func isBelow(path, dir string) bool {
	return path != dir && strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// isIn reports whether a path is a directory or lies below it.
func isIn(path, dir string) bool { return path == dir || isBelow(path, dir) }

// content returns what is sent of a file.
func (c *claude) content(path string) string {
	return strings.TrimFunc(c.env.Files.read(path).claude, isSpace)
}

// add adds a memory file that is there, with what it imports.
func (c *claude) add(path string, of scope) {
	c.addFile(path, of, Entry{Kind: KindMemory, Path: path})
}

// addFile adds the file of an entry and what it imports, once. It reports whether the file is loaded.
func (c *claude) addFile(path string, of scope, e Entry) bool {
	if c.seen[path] || e.Depth > claudeHops {
		return false
	}
	doc := c.env.Files.read(path)
	if doc.err != nil {
		c.unread(path, doc, e)
		return false
	}
	real := path
	if resolved, err := c.env.Files.Resolve(path); err == nil {
		real = resolved
	}
	if e.Depth > 0 && of != user && !c.approved && !isIn(real, c.env.Dir) || real != path && c.seen[real] {
		return false
	}
	c.seen[path], c.seen[real] = true, true
	content := strings.TrimFunc(doc.claude, isSpace)
	if content == "" {
		return false
	}
	e.Size, e.Sent, e.When = doc.size, len(content), AtStart
	e.Text = "Contents of " + path + " (" + claudeLabels[of] + "):\n\n" + content
	if paths := rulePaths(doc.front); e.Kind == KindRule && paths != nil {
		e.Text, e.Sent, e.When, e.Paths, e.Reason = "", 0, OnRead, paths, "loaded with the first file that matches "+strings.Join(paths, ", ")
	}
	c.entries = append(c.entries, e)
	c.chain = append(c.chain, path)
	c.imports(path, real, doc, of, e.Depth)
	c.chain = c.chain[:len(c.chain)-1]
	return true
}

// unread takes note of a file that is there and not loaded.
func (c *claude) unread(path string, doc *document, e Entry) {
	if errors.Is(doc.err, fs.ErrNotExist) || e.Depth > 0 {
		return
	}
	e.Size, e.When, e.Reason = doc.size, Never, "not read: "+reasonOf(doc.err)
	c.entries = append(c.entries, e)
	if errors.Is(doc.err, ErrTooLarge) {
		c.load.add(FileTooLarge, path, span{}, "Claude Code skips files over 4 MiB (%d bytes)", doc.size)
	} else {
		c.load.add(FileUnreadable, path, span{}, "not loaded: %s", reasonOf(doc.err))
	}
}

// imports adds what a file imports, and says which imports fail.
func (c *claude) imports(path, real string, doc *document, of scope, depth int) {
	named := map[string]bool{}
	for _, ref := range doc.refs {
		target := c.resolve(ref.target, filepath.Dir(real))
		if named[target] {
			continue
		}
		named[target] = true
		c.checkImport(path, doc, ref, target, of, depth)
		if of != user && !c.approved && !isIn(target, c.env.Dir) {
			continue
		}
		if !importable(target) {
			continue
		}
		c.addFile(target, of, Entry{Kind: KindImport, Path: target, Parent: path, Depth: depth + 1})
	}
	c.checkGlued(path, doc, filepath.Dir(real))
}

// resolve returns the path that an import names.
func (c *claude) resolve(target, dir string) string { return resolveImport(c.env.Home, target, dir) }

func resolveImport(home, target, dir string) string {
	if rest, ok := strings.CutPrefix(target, "~/"); ok {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(target) {
		return filepath.Clean(target)
	}
	return filepath.Join(dir, filepath.FromSlash(target))
}
