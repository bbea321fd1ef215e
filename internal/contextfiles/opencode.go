package contextfiles

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
)

func readOpenCode(env Env) *Load {
	l := &Load{Host: session.HostOpenCode}
	config := env.Getenv("OPENCODE_CONFIG_DIR")
	if config == "" {
		base := env.Getenv("XDG_CONFIG_HOME")
		if base == "" {
			base = filepath.Join(env.Home, ".config")
		}
		config = filepath.Join(base, "opencode")
	}
	// Without a repository OpenCode looks up to the root of the file system.
	l.Root = env.rootOf([]string{".git"})
	top := l.Root
	if _, err := env.Files.Stat(filepath.Join(top, ".git")); err != nil {
		top = filepath.VolumeName(env.Dir) + string(filepath.Separator)
	}
	dirs := env.between(top)
	slices.Reverse(dirs) // innermost first
	part := Part{Name: "memory", Where: "the end of the system prompt", Sep: "\n"}
	o := opencode{env: env, load: l, part: &part, seen: map[string]bool{}}

	claudePrompt := env.Getenv("OPENCODE_DISABLE_CLAUDE_CODE") == "" && env.Getenv("OPENCODE_DISABLE_CLAUDE_CODE_PROMPT") == ""
	global := []string{filepath.Join(config, "AGENTS.md")}
	names := []string{"AGENTS.md", "CONTEXT.md"}
	if claudePrompt {
		global = append(global, filepath.Join(env.Home, ".claude", "CLAUDE.md"))
		names = slices.Insert(names, 1, "CLAUDE.md")
	}
	o.firstOf([][]string{{global[0]}, global[1:]}, "OpenCode reads one file of the user: "+filepath.Base(filepath.Dir(config))+"/opencode/AGENTS.md comes first")
	var kinds [][]string
	for _, name := range names {
		var files []string
		for _, dir := range dirs {
			files = append(files, filepath.Join(dir, name))
		}
		kinds = append(kinds, files)
	}
	o.firstOf(kinds, "OpenCode reads files of one name in a project, and AGENTS.md comes first")
	for _, pattern := range o.instructions(config, dirs) {
		o.instruction(pattern, dirs)
	}
	l.Parts = []Part{part}
	return l
}

// opencode collects what OpenCode loads.
type opencode struct {
	env  Env
	load *Load
	part *Part
	seen map[string]bool
}

// firstOf adds the files of the first group that has any; those of the others are never loaded.
func (o *opencode) firstOf(groups [][]string, reason string) {
	found := false
	for _, group := range groups {
		any := false
		for _, path := range group {
			info, err := o.env.Files.Stat(path)
			if err != nil || info.IsDir() {
				continue
			}
			any = true
			if found {
				o.part.Entries = append(o.part.Entries, Entry{Kind: KindMemory, Path: path, When: Never, Reason: reason, Size: info.Size()})
				continue
			}
			o.add(path, KindMemory)
		}
		found = found || any
	}
}

// add adds a file, once.
func (o *opencode) add(path string, kind EntryKind) {
	if o.seen[path] {
		return
	}
	o.seen[path] = true
	doc := o.env.Files.read(path)
	e := Entry{Kind: kind, Path: path, When: AtStart, Size: doc.size}
	switch {
	case doc.err != nil:
		e.When, e.Reason = Never, "not read: "+reasonOf(doc.err)
		o.load.add(FileUnreadable, path, span{}, "not loaded: %s", reasonOf(doc.err))
	case doc.text == "":
		return
	default:
		text := strings.TrimPrefix(doc.text, "\ufeff")
		e.Text, e.Sent = "Instructions from: "+path+"\n"+text, len(text)
		o.load.checkUnread(path, doc)
	}
	o.part.Entries = append(o.part.Entries, e)
}

// instructions returns the patterns that the settings name, those of the user first, then from the root to the current directory.
func (o *opencode) instructions(config string, dirs []string) (patterns []string) {
	places := []string{config}
	for _, dir := range slices.Backward(dirs) {
		places = append(places, dir, filepath.Join(dir, ".opencode"))
	}
	for _, dir := range places {
		for _, name := range []string{"opencode.json", "opencode.jsonc"} {
			data, err := o.env.Files.ReadFile(filepath.Join(dir, name), 8<<20)
			if err != nil {
				continue
			}
			var settings struct {
				Instructions []string `json:"instructions"`
			}
			if json.Unmarshal(standardJSON(data), &settings) == nil {
				patterns = append(patterns, settings.Instructions...)
			}
		}
	}
	return patterns
}

// instruction adds the files that a pattern names.
func (o *opencode) instruction(pattern string, dirs []string) {
	if strings.HasPrefix(pattern, "https://") || strings.HasPrefix(pattern, "http://") {
		o.part.Rest = "instructions from the network are not asked for"
		return
	}
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(o.env.Home, rest)
	}
	if filepath.IsAbs(pattern) {
		for _, path := range globFiles(o.env.Files, filepath.Dir(pattern), filepath.Base(pattern)) {
			o.add(path, KindImport)
		}
		return
	}
	for _, dir := range dirs {
		for _, path := range globFiles(o.env.Files, dir, filepath.ToSlash(pattern)) {
			o.add(path, KindImport)
		}
	}
}
