package codex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// maxConfigBytes is how much of a config.toml is read. Those that people write have a few kilobytes.
const maxConfigBytes = 1 << 20

// systemConfig is the settings file of the whole machine, which Codex has on Unix only.
const systemConfig = "/etc/codex/config.toml"

// settingsFor returns the user's settings of where Codex compacts, by its documentation of config.toml: the file of the directory
// that it works in counts before those of the directories above, up to the root of the project, then the user's, then the
// machine's. Files of a project count only where the user trusts it. Profiles and -c are on Codex' command line, which a hook does
// not see.
//
// A limit that counts only what follows the prefix of the conversation (model_auto_compact_token_limit_scope) is left out: the size
// of that prefix is not recorded.
func settingsFor(env host.Env) (s model.Settings) {
	user := configLines(configFile(env))
	layers := projectConfigs(env, user)
	layers = append(layers, user, configLines(systemConfig))
	if value := firstValue(layers, "model_auto_compact_token_limit_scope"); value != "" && unquoted(value) != "total" {
		return s
	}
	limit, err := strconv.Atoi(strings.ReplaceAll(firstValue(layers, "model_auto_compact_token_limit"), "_", ""))
	if err == nil && limit > 0 {
		s.Point = limit
	}
	return s
}

// firstValue returns the value of a key outside of any table, from the first of the files that has it; "" where none has.
func firstValue(files [][]configLine, key string) string {
	for _, lines := range files {
		for _, line := range lines {
			if line.table == "" && line.key == key {
				return line.value
			}
		}
	}
	return ""
}

// projectConfigs returns the settings of the project that Codex works in, the nearest directory first. The root of a project is the
// nearest directory that holds .git.
func projectConfigs(env host.Env, user []configLine) (files [][]configLine) {
	if !filepath.IsAbs(env.CWD) {
		return nil
	}
	var dirs []string
	root := ""
	for dir := filepath.Clean(env.CWD); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			root = dir
			break
		}
		if dir == filepath.Dir(dir) {
			dirs = dirs[:1] // no project: the directory alone
			break
		}
	}
	for _, dir := range dirs {
		file := filepath.Join(dir, ".codex", "config.toml")
		if file != configFile(env) && (isTrusted(user, dir) || root != "" && isTrusted(user, root)) {
			files = append(files, configLines(file))
		}
	}
	return files
}

// isTrusted reports whether the user's settings trust the project in a directory.
func isTrusted(user []configLine, dir string) bool {
	for _, line := range user {
		if name, ok := strings.CutPrefix(line.table, "projects."); ok && line.key == "trust_level" && unquoted(line.value) == "trusted" && filepath.Clean(unquoted(name)) == dir {
			return true
		}
	}
	return false
}

func configFile(env host.Env) string { return filepath.Join(codexDir(env), "config.toml") }

// configLine is a line "key = value" of config.toml and the table that it stands in.
type configLine struct{ table, key, value string }

// configLines returns the lines of a config.toml, none where it cannot be read. They are read one by one: no value that is looked
// for here spans several lines.
func configLines(path string) (lines []configLine) {
	text, err := transcript.Head(path, maxConfigBytes)
	if err != nil {
		return nil
	}
	table := ""
	for line := range strings.Lines(string(text)) {
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
