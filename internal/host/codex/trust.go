package codex

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/settings"
)

// Codex keeps in config.toml which hooks are trusted, a table a hook:
//
//	[hooks.state."/home/dev/.codex/hooks.json:pre_compact:0:0"]
//	trusted_hash = "sha256:…"

// Check implements host.Checker: whether the user's settings switch hooks off, and how many of the hooks are trusted.
func (Installer) Check(env host.Env, places []host.Place) (checks []check.Check) {
	lines := configLines(configFile(env))
	for _, line := range lines {
		if line.table == "features" && line.key == "hooks" && line.value == "false" {
			what := fmt.Sprintf("features.hooks is false in %s: Codex runs no hook until it is not", configFile(env))
			checks = append(checks, check.Check{Name: "switched off", Status: check.Fail, What: what, Hint: "remove that line"})
		}
	}
	for _, p := range places {
		if len(p.Own) == 0 {
			continue
		}
		trusted, off := trustedHooks(lines, p.File.Path, p.Own)
		c := check.Check{Name: "trust", Status: check.Warn, What: fmt.Sprintf("%d of %d hooks in %s", trusted, len(p.Own), p.File.Path)}
		switch {
		case trusted < len(p.Own):
			c.What += " are trusted; Codex skips the others without a word"
			c.Hint = "start codex and type /hooks, then trust them"
		case off > 0:
			c.What += fmt.Sprintf(" are trusted, but %d are switched off", off)
			c.Hint = "start codex and type /hooks, then switch them on"
		default:
			c.Status = check.OK
			c.What += " are trusted, if they have not changed since"
		}
		checks = append(checks, c)
	}
	return checks
}

// trustedHooks returns how many of the hooks of a file are trusted, and how many of these are switched off. Codex stops to trust a
// hook that has changed, which only Codex can tell: such a hook counts as trusted here.
func trustedHooks(lines []configLine, file string, hooks []settings.Own) (trusted, off int) {
	states := map[string]map[string]string{}
	for _, line := range lines {
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
			if path, ok := strings.CutSuffix(name, place); ok && state["trusted_hash"] != "" && (path == file || host.SameFile(path, file)) {
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

// Servers implements host.Installer.
func (Installer) Servers(env host.Env) (own []settings.Own) {
	var names []string
	commands := map[string][2]string{} // command and args, by table
	for _, line := range configLines(configFile(env)) {
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
			own = append(own, settings.Own{File: configFile(env), Place: "MCP server " + unquoted(name), Program: words[0]})
		}
	}
	return own
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
