package contextfiles

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
)

const (
	// claudeDescription is how many characters of a description Claude Code lists, in units of UTF-16.
	claudeDescription = 1536
	// claudeListing is how many characters the listing of skills and commands may have in a window of 200,000 tokens: 1 % at four
	// characters a token.
	claudeListing = 8000
)

// builtin is a skill that Claude Code brings along, as it is listed: the size of its line.
type builtin struct {
	name       string
	bytes      int
	characters int // in units of UTF-16
	fixed      bool
}

// claudeBuiltins are the lines of Claude Code's own skills in its listing, as captured from Versions. Those that are not fixed lose
// their description first when the listing is over its budget.
var claudeBuiltins = []builtin{
	{"dataviz", 1459, 1447, true},
	{"update-config", 707, 707, true},
	{"keybindings-help", 248, 248, true},
	{"code-review", 850, 850, true},
	{"simplify", 190, 188, true},
	{"fewer-permission-prompts", 191, 191, true},
	{"loop", 344, 344, true},
	{"claude-api", 1181, 1171, true},
	{"workflow-authoring", 252, 252, true},
	{"run", 368, 368, true},
	{"plugin-authoring", 275, 275, true},
	{"init", 67, 67, false},
	{"security-review", 90, 90, false},
}

// listed is a skill or command on its way into a listing.
type listed struct {
	entry       Entry
	description string
	fixed       bool
	size        int // of a line that the files do not tell
	short       int // and of its name alone
}

// listSkills returns the listing of skills and commands: skills of the user, then of the project, each sorted by name, then commands
// of the project and of the user.
func (c *claude) listSkills() Part {
	part := Part{Name: "skills", Where: "a reminder in the first user message", Sep: "\n",
		Head: "<system-reminder>\nThe following skills are available for use with the Skill tool:\n\n", Tail: "\n</system-reminder>",
		Rest: "the lines of the built-in skills and of plugins"}
	var all []listed
	names := map[string]bool{}
	for _, group := range [][]listed{
		c.skillsIn(filepath.Join(c.config, "skills")), c.projectSkills(),
		c.projectCommands(), c.commandsIn(filepath.Join(c.config, "commands"), ""),
	} {
		for _, l := range group {
			if names[l.entry.Name] {
				l.entry.When, l.entry.Reason = Never, "another skill or command has this name"
			}
			names[l.entry.Name] = true
			all = append(all, l)
		}
	}
	own := len(all)
	for _, b := range claudeBuiltins {
		all = append(all, listed{entry: Entry{Name: b.name, When: AtStart}, fixed: b.fixed, size: b.characters, short: len("- " + b.name)})
	}
	c.fit(all)
	for _, l := range all[:own] {
		part.Entries = append(part.Entries, l.entry)
	}
	return part
}

// fit gives each line its text. When the lines are over the budget, those that come last have their name alone. What was used often
// comes first in a real session, which files do not tell.
func (c *claude) fit(all []listed) {
	whole, names := -1, -1
	for i := range all {
		l := &all[i]
		if l.entry.When != AtStart {
			continue
		}
		if l.size == 0 {
			description := l.description
			if cut, ok := cutUTF16(description, claudeDescription); ok {
				description = cut
				l.entry.Cut = true
				c.load.add(DescriptionCut, l.entry.Path, span{}, "Listed: %d of the %d characters of this description.", claudeDescription, lengthUTF16(l.description))
			}
			l.entry.Text = "- " + l.entry.Name + ": " + description
			l.size, l.short = lengthUTF16(l.entry.Text), lengthUTF16("- "+l.entry.Name)
		}
		whole += l.size + 1
		if l.fixed {
			names += l.size + 1
		} else {
			names += l.short + 1
		}
	}
	if whole <= claudeListing {
		for i := range all {
			all[i].entry.Sent = len(all[i].entry.Text)
		}
		return
	}
	left := claudeListing - names
	for i := range all {
		l := &all[i]
		if l.entry.When != AtStart || l.fixed {
			continue
		}
		if more := l.size - l.short; more <= left {
			left -= more
		} else if l.entry.Path != "" {
			l.entry.Text, l.entry.Cut = "- "+l.entry.Name, true
			c.load.add(ListingOverBudget, l.entry.Path, span{}, "Listed by its name alone: the listing of skills and commands has %d characters, and %d fit in a window of 200,000 tokens.", whole, claudeListing)
		}
		l.entry.Sent = len(l.entry.Text)
	}
}

// lengthUTF16 returns the length of a text as JavaScript counts it.
func lengthUTF16(s string) int { return len(utf16.Encode([]rune(s))) }

// cutUTF16 cuts a text that is longer than limit, with "…" as its last character.
func cutUTF16(s string, limit int) (string, bool) {
	units := utf16.Encode([]rune(s))
	if len(units) <= limit {
		return s, false
	}
	return string(utf16.Decode(units[:limit-1])) + "…", true
}

// projectSkills returns the skills of the directories from the repository's root to the current one, the nearest first.
func (c *claude) projectSkills() (all []listed) {
	for _, dir := range slices.Backward(c.env.between(c.env.rootOf([]string{".git"}))) {
		all = append(all, c.skillsIn(filepath.Join(dir, ".claude", "skills"))...)
	}
	return all
}

func (c *claude) projectCommands() (all []listed) {
	for _, dir := range slices.Backward(c.env.between(c.env.rootOf([]string{".git"}))) {
		all = append(all, c.commandsIn(filepath.Join(dir, ".claude", "commands"), "")...)
	}
	return all
}

// skillsIn returns the skills of a directory: each is a directory of its own with a SKILL.md.
func (c *claude) skillsIn(dir string) (all []listed) {
	for _, entry := range sortedDir(c.env.Files, dir) {
		path := filepath.Join(dir, entry.Name(), "SKILL.md")
		if l, ok := c.listed(path, entry.Name(), KindSkill); ok {
			all = append(all, l)
		}
	}
	return all
}

// commandsIn returns the commands below a directory. What lies in d/x.md is called d:x.
func (c *claude) commandsIn(dir, prefix string) (all []listed) {
	if strings.Count(prefix, ":") > maxDepth {
		return nil
	}
	for _, entry := range sortedDir(c.env.Files, dir) {
		path := filepath.Join(dir, entry.Name())
		info, err := c.env.Files.Stat(path)
		if err != nil {
			continue
		}
		if info.IsDir() {
			all = append(all, c.commandsIn(path, prefix+entry.Name()+":")...)
		} else if name, ok := strings.CutSuffix(entry.Name(), ".md"); ok {
			if l, ok := c.listed(path, prefix+name, KindCommand); ok {
				all = append(all, l)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b listed) int { return cmp.Compare(a.entry.Name, b.entry.Name) })
	return all
}

// listed reads a skill or a command.
func (c *claude) listed(path, name string, kind EntryKind) (l listed, ok bool) {
	doc := c.env.Files.read(path)
	if doc.err != nil {
		return l, false
	}
	l.entry = Entry{Kind: kind, Path: path, Name: name, When: AtStart, Size: doc.size}
	if doc.front.get("disable-model-invocation") == "true" {
		l.entry.When, l.entry.Reason = Never, "disable-model-invocation keeps it from the model"
	}
	l.description = oneLine(doc.front.get("description"))
	if l.description == "" {
		l.description = firstLine(doc.text[doc.front.end:])
	}
	if use := oneLine(doc.front.get("when_to_use")); use != "" {
		l.description += " - " + use
	}
	l.description = strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(l.description)
	return l, true
}

// oneLine returns a text with its white space reduced to single spaces.
func oneLine(s string) string { return strings.Join(strings.FieldsFunc(s, isSpace), " ") }

// firstLine returns the first line of a text that is not empty, without the # of a heading.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimFunc(line, isSpace); line != "" {
			return strings.TrimFunc(strings.TrimLeft(line, "#"), isSpace)
		}
	}
	return ""
}

// sortedDir returns the entries of a directory sorted by name; none where it cannot be read.
func sortedDir(files FS, dir string) []fs.DirEntry {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries
}

// listAgents returns the listing of agents that files define. Those of the project come before those of the user with the same name;
// all are sorted by name, the built-in ones among them.
func (c *claude) listAgents() Part {
	part := Part{Name: "agents", Where: "a reminder in the first user message", Sep: "\n", Head: "<system-reminder>\nAvailable agent types for the Agent tool:\n",
		Tail: "\n\nWhen you launch multiple agents for independent work, send them in a single message with multiple tool uses so they run concurrently.\n</system-reminder>",
		Rest: "the lines of the built-in agents and of plugins"}
	names := map[string]bool{}
	for _, dir := range slices.Backward(c.env.between(c.env.rootOf([]string{".git"}))) {
		c.agentsIn(&part, filepath.Join(dir, ".claude", "agents"), names, 0)
	}
	c.agentsIn(&part, filepath.Join(c.config, "agents"), names, 0)
	slices.SortStableFunc(part.Entries, func(a, b Entry) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return part
}

func (c *claude) agentsIn(part *Part, dir string, names map[string]bool, depth int) {
	if depth > maxDepth {
		return
	}
	for _, entry := range sortedDir(c.env.Files, dir) {
		path := filepath.Join(dir, entry.Name())
		if entry.IsDir() {
			c.agentsIn(part, path, names, depth+1)
			continue
		}
		doc := c.env.Files.read(path)
		if !strings.HasSuffix(entry.Name(), ".md") || doc.err != nil {
			continue
		}
		name, description := doc.front.get("name"), doc.front.get("description")
		e := Entry{Kind: KindAgent, Path: path, Name: name, When: AtStart, Size: doc.size}
		switch {
		case name == "" && doc.front.end == 0:
			e.When, e.Reason = Never, "it has no frontmatter"
		case name == "" || description == "":
			e.When, e.Reason = Never, "its frontmatter lacks name or description"
			c.load.add(DescriptionNone, path, span{0, len(strings.TrimRightFunc(doc.text[:doc.front.end], isSpace))}, "Not loaded: an agent needs a name and a description in its frontmatter.")
		case names[name]:
			e.When, e.Reason = Never, "another agent has this name"
		default:
			names[name] = true
			e.Text = "- " + name + ": " + description + " (Tools: " + agentTools(doc.front) + ")"
			e.Sent = len(e.Text)
		}
		part.Entries = append(part.Entries, e)
	}
}

// agentTools says which tools an agent has, as Claude Code lists them.
func agentTools(front frontmatter) string {
	split := func(key string) (tools []string) {
		for _, value := range front.values[key] {
			tools = append(tools, splitPatterns(value)...)
		}
		return tools
	}
	tools, denied := split("tools"), split("disallowedTools")
	switch {
	case len(tools) == 0 && len(denied) == 0:
		return "All tools"
	case len(tools) == 0:
		return "All tools except " + strings.Join(denied, ", ")
	}
	tools = slices.DeleteFunc(tools, func(t string) bool { return slices.Contains(denied, t) })
	return strings.Join(tools, ", ")
}
