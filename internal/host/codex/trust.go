package codex

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/ctxls/ctxls/internal/host/settings"
)

// Codex keeps in config.toml which hooks are trusted, a table a hook:
//
//	[hooks.state."/home/dev/.codex/hooks.json:pre_compact:0:0"]
//	trusted_hash = "sha256:…"

// Trusted returns how many of the hooks of a file are trusted, and how many of these are switched off. A hook that has changed since
// is trusted no more, which only Codex can tell: it counts here.
func Trusted(getenv func(string) string, home, file string, hooks []settings.Own) (trusted, off int) {
	states := map[string]map[string]string{}
	for _, line := range configLines(getenv, home) {
		if name, ok := strings.CutPrefix(line.table, "hooks.state."); ok {
			if states[unquoted(name)] == nil {
				states[unquoted(name)] = map[string]string{}
			}
			states[unquoted(name)][line.key] = line.value
		}
	}
	for _, hook := range hooks {
		place := ":" + snake(hook.Place) + ":" + strconv.Itoa(hook.Group) + ":" + strconv.Itoa(hook.Index)
		for name, state := range states {
			if path, ok := strings.CutSuffix(name, place); ok && state["trusted_hash"] != "" && sameFile(path, file) {
				trusted++
				if state["enabled"] == "false" {
					off++
				}
				break
			}
		}
	}
	return trusted, off
}

// HooksOff says why Codex runs no hooks at all, one sentence each, as the user's settings have it.
func HooksOff(getenv func(string) string, home string) (notes []string) {
	for _, line := range configLines(getenv, home) {
		if line.table == "features" && line.key == "hooks" && line.value == "false" {
			notes = append(notes, fmt.Sprintf("features.hooks is false in %s: Codex runs no hook until it is not", configFile(getenv, home)))
		}
	}
	return notes
}

// OwnServers returns the MCP servers of Codex that are ctxls.
func OwnServers(getenv func(string) string, home, _ string) (own []settings.Own) {
	var names []string
	commands := map[string][2]string{} // command and args, by table
	for _, line := range configLines(getenv, home) {
		command, known := commands[line.table]
		switch line.key {
		case "command":
			command[0] = line.value
		case "args":
			command[1] = line.value
		}
		if !known {
			names = append(names, line.table)
		}
		commands[line.table] = command
	}
	for _, table := range names {
		name, ok := strings.CutPrefix(table, "mcp_servers.")
		if !ok {
			continue
		}
		var args []string
		_ = json.Unmarshal([]byte(strings.ReplaceAll(commands[table][1], "'", `"`)), &args) // what is no list of strings is none of ours
		if words := append([]string{unquoted(commands[table][0])}, args...); settings.IsOwnServer(words) {
			own = append(own, settings.Own{File: configFile(getenv, home), Place: "MCP server " + unquoted(name), Program: words[0]})
		}
	}
	return own
}

func configFile(getenv func(string) string, home string) string {
	return filepath.Join(filepath.Dir(HooksFile(settings.User, getenv, home, "")), "config.toml")
}

// configLine is a line "key = value" of config.toml and the table that it stands in.
type configLine struct{ table, key, value string }

// configLines returns the lines of the user's config.toml, none where it cannot be read. They are read one by one: of what Codex
// and its commands write there, nothing that is looked for goes over several.
func configLines(getenv func(string) string, home string) (lines []configLine) {
	file, err := settings.Open(configFile(getenv, home))
	if err != nil {
		return nil
	}
	table := ""
	for line := range strings.Lines(string(file.Text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok && !strings.HasPrefix(name, "[") {
			table = strings.TrimSpace(name[:max(strings.LastIndexByte(name, ']'), 0)])
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			value = strings.TrimSpace(value)
			if !strings.ContainsAny(value, `"'`) { // a comment may stand behind it
				value, _, _ = strings.Cut(value, "#")
			}
			lines = append(lines, configLine{table, unquoted(strings.TrimSpace(key)), strings.TrimSpace(value)})
		}
	}
	return lines
}

// unquoted returns what a string of TOML says, and a bare word as it is.
func unquoted(s string) string {
	if strings.HasPrefix(s, "'") {
		return strings.Trim(s, "'")
	}
	var text string
	if json.Unmarshal([]byte(s), &text) == nil { // its basic strings are JSON's, some escapes aside
		return text
	}
	return s
}

// snake spells the name of an event as Codex does in the names of tables: PreCompact is pre_compact.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
