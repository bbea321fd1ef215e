package contextfiles

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Versions are the versions of the hosts that the rules of this package were captured from.
var Versions = map[session.Host]string{
	session.HostClaudeCode: "2.1.329",
	session.HostCodex:      "0.169.0",
	session.HostGeminiCLI:  "0.61.0",
	session.HostOpenCode:   "1.18.33",
}

// Hosts lists the hosts that Load knows, in the order in which people are shown them.
var Hosts = []session.Host{session.HostClaudeCode, session.HostOpenCode, session.HostCodex, session.HostGeminiCLI}

// Env is where a session would start.
type Env struct {
	Files  *Reader
	Home   string              // the user's home directory
	Dir    string              // the session's working directory, absolute
	Getenv func(string) string // never nil
}

// Kind says what an entry is.
type EntryKind string

// The kinds of entries.
const (
	KindMemory  EntryKind = "memory"  // a memory file that the host looks for by name
	KindImport  EntryKind = "import"  // a file that another one names
	KindRule    EntryKind = "rule"    // a file of a rules directory
	KindSkill   EntryKind = "skill"   // the listing line of a skill
	KindCommand EntryKind = "command" // the listing line of a command
	KindAgent   EntryKind = "agent"   // the listing line of an agent
)

// When says when an entry enters the window.
type When string

// The moments at which an entry enters the window.
const (
	AtStart When = "start"  // before the first prompt
	OnRead  When = "onRead" // when the agent reads a file that it concerns
	Never   When = "never"  // the host does not load it; the reason says why
)

// Entry is one file's share of a request.
type Entry struct {
	Kind   EntryKind
	Path   string // absolute
	Name   string // of a skill, command or agent; else ""
	Parent string // path of the file that imports this one; "" where the host found it itself
	Depth  int    // hops from the file that the host found
	When   When
	Reason string   // why it is not loaded at the start, in words; else ""
	Paths  []string // patterns of a rule that waits for a path
	Text   string   // the entry as it stands in the request, with its heading; "" unless When is AtStart
	Sent   int      // bytes of the file's own content in Text
	Size   int64    // bytes of the file on the disk
	Cut    bool     // a cap of the host removed a part
	// Inlined says that Text is a part of the parent's Text rather than a block of its own.
	Inlined bool
}

// Part is one block of a request that files make.
type Part struct {
	Name      string // "memory", "skills" or "agents"
	Where     string // the place in the request, in words
	Head, Sep string // text before the first entry, and between two
	Tail      string // text after the last entry
	// Rest says what of the block the files alone do not tell, such as the listing of built-in skills; "" where nothing is missing.
	Rest    string
	Entries []Entry
}

// Text returns the block as the host sends it, as far as files tell; "" where no entry is loaded at the start.
func (p *Part) Text() string {
	var text strings.Builder
	before := p.Head
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.When != AtStart || e.Inlined {
			continue
		}
		text.WriteString(before)
		text.WriteString(e.Text)
		before = p.Sep
	}
	if text.Len() == 0 {
		return ""
	}
	text.WriteString(p.Tail)
	return text.String()
}

// Load is what a session of one host would hold before its first prompt, as far as files tell.
type Load struct {
	Host     session.Host
	Root     string // the directory that the host takes for the project's; "" where it has none
	Model    string // that the host's settings name; "" where they name none
	Window   int    // of the model in tokens, as the settings say; 0 where they do not
	Parts    []Part
	Findings []Finding
}

// Read returns what a session of a host would hold before its first prompt if it started in env.Dir.
func Read(env Env, host session.Host) (*Load, error) {
	if !filepath.IsAbs(env.Dir) {
		return nil, fmt.Errorf("the directory %q is not absolute", env.Dir)
	}
	env.Dir = filepath.Clean(env.Dir)
	var l *Load
	switch host {
	case session.HostClaudeCode:
		l = readClaude(env)
	case session.HostCodex:
		l = readCodex(env)
	case session.HostGeminiCLI:
		l = readGemini(env)
	case session.HostOpenCode:
		l = readOpenCode(env)
	default:
		return nil, fmt.Errorf("no rules are known for the host %q", host)
	}
	l.checkTwice(env.Files)
	return l, nil
}

// minTwice is the size in bytes from which the same content twice is a defect. Shorter files are alike by chance.
const minTwice = 200

// checkTwice reports memory files whose content is loaded from two places.
func (l *Load) checkTwice(files *Reader) {
	first := map[string]string{}
	for _, part := range l.Parts {
		for _, e := range part.Entries {
			if e.When != AtStart || e.Inlined || e.Name != "" || e.Sent < minTwice {
				continue
			}
			text := strings.TrimFunc(files.Text(e.Path), isSpace)
			if other, ok := first[text]; ok {
				l.add(LoadedTwice, e.Path, span{}, "Loaded twice: it has the content of %s, which is loaded, too.", other)
			} else {
				first[text] = e.Path
			}
		}
	}
}

// find returns the load's part of a name; nil where it has none.
func (l *Load) find(name string) *Part {
	for i := range l.Parts {
		if l.Parts[i].Name == name {
			return &l.Parts[i]
		}
	}
	return nil
}

// Installed returns the hosts that have a directory of settings on this machine; all hosts where none has.
func Installed(env Env) (hosts []session.Host) {
	config := env.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(env.Home, ".config")
	}
	dirs := map[session.Host][]string{
		session.HostClaudeCode: {env.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(env.Home, ".claude")},
		session.HostOpenCode:   {filepath.Join(config, "opencode")},
		session.HostCodex:      {env.Getenv("CODEX_HOME"), filepath.Join(env.Home, ".codex")},
		session.HostGeminiCLI:  {filepath.Join(env.Home, ".gemini")},
	}
	for _, host := range Hosts {
		for _, dir := range dirs[host] {
			if info, err := env.Files.Stat(dir); dir != "" && err == nil && info.IsDir() {
				hosts = append(hosts, host)
				break
			}
		}
	}
	if hosts == nil {
		return Hosts
	}
	return hosts
}
