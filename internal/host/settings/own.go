package settings

import (
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Own is an entry of a host's settings that runs ctxls.
type Own struct {
	File    string // the settings file; "" is the one that was asked about
	Place   string // what the host runs it for, such as "Stop" or "status line"
	Program string // as written there: a path, or a name on the PATH
	// Undo says how the user removes an entry that Uninstall leaves, such as a plugin of a marketplace; "" for all others.
	Undo string
	// Group and Index are the position of a hook: the group in its event, and the hook in the group, from 0.
	Group, Index int
}

// OwnHooks returns the hooks that run ctxls for the host; their place is the event.
func (d *Document) OwnHooks(host session.Host) (own []Own) {
	m := find(d.object(), "hooks")
	if m == nil {
		return nil
	}
	all, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for _, event := range all.Members {
		groups, ok := event.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for g := range groups.Elements {
			entries := entriesOf(groups.Elements[g])
			if entries == nil {
				continue
			}
			for i, entry := range entries.Elements {
				if o, ours := ownEntry(entry, host); ours {
					command := stringOf(find(o, "command").Value)
					if args := find(o, "args"); args != nil {
						command, _ = ownArgs(command, stringsOf(args), host)
					} else {
						command, _ = OwnLine(command, host)
					}
					own = append(own, Own{Place: stringOf(event.Name), Program: strings.TrimSpace(command), Group: g, Index: i})
				}
			}
		}
	}
	return own
}

// OwnHooks returns the hooks of a settings text that run ctxls for a host; none if the text cannot be read.
func OwnHooks(text []byte, host session.Host) []Own {
	doc, err := Parse("", text)
	if err != nil {
		return nil
	}
	return doc.OwnHooks(host)
}

// OwnServers returns the MCP servers of a settings file that are ctxls, as Document.OwnServers; none if it cannot be read.
func OwnServers(path string, names ...string) (own []Own) {
	file, err := Open(path)
	if err != nil {
		return nil
	}
	doc, err := Parse("", file.Text)
	if err != nil {
		return nil
	}
	for _, o := range doc.OwnServers(names...) {
		o.File = path
		own = append(own, o)
	}
	return own
}

// OwnServers returns the MCP servers that are ctxls in the object at the given names. A server's command is a string with args beside
// it, or a list.
func (d *Document) OwnServers(names ...string) (own []Own) {
	o := d.object()
	for _, name := range names {
		m := find(o, name)
		if m == nil {
			return nil
		}
		inner, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		o = inner
	}
	for _, server := range o.Members {
		entry, ok := server.Value.Value.(*hujson.Object)
		if !ok {
			continue
		}
		var words []string
		for _, name := range []string{"command", "args"} {
			m := find(entry, name)
			if m == nil {
				continue
			}
			switch v := m.Value.Value.(type) {
			case hujson.Literal:
				words = append(words, stringOf(m.Value))
			case *hujson.Array:
				for _, element := range v.Elements {
					words = append(words, stringOf(element))
				}
			}
		}
		if IsOwnServer(words) {
			own = append(own, Own{Place: "MCP server " + stringOf(server.Name), Program: words[0]})
		}
	}
	return own
}

// IsOwnServer reports whether a command, word by word, is ctxls as an MCP server.
func IsOwnServer(words []string) bool { return len(words) > 1 && IsOwn(words[0]) && words[1] == "mcp" }

// programOf returns the program at the end of a shell line that was cut off after it, in the spelling of quote, or after another prefix.
func programOf(line string) string {
	line = strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "'"):
		line = strings.Trim(line, "'")
		return strings.ReplaceAll(strings.ReplaceAll(line, `'\''`, "'"), "''", "'") // a POSIX shell's way, and PowerShell's
	case strings.HasPrefix(line, `"`):
		return strings.Trim(line, `"`)
	}
	return line[strings.LastIndexByte(line, ' ')+1:]
}
