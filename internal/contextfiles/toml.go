package contextfiles

import (
	"encoding/json"
	"strconv"
	"strings"
)

// toml holds the keys at the top of a TOML document, and those of its tables as "table.key", each with its value as typed. Of what
// the hosts' settings have, it reads strings, numbers, and lists of strings, also over several lines.
type toml map[string]string

func readTOML(files FS, path string) toml {
	values := toml{}
	data, err := files.ReadFile(path, 8<<20)
	if err != nil {
		return values
	}
	table, open, key := "", false, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if open {
			values[key] += " " + uncommented(line)
			open = !closed(values[key])
			continue
		}
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(uncommented(line), "[]") + "."
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		key = table + strings.Trim(strings.TrimSpace(name), `"'`)
		values[key] = uncommented(strings.TrimSpace(value))
		open = strings.HasPrefix(values[key], "[") && !closed(values[key])
	}
	return values
}

// uncommented returns a line without the comment behind it.
func uncommented(line string) string {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == '\\' && quote == '"':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#':
			return strings.TrimSpace(line[:i])
		}
	}
	return line
}

// closed reports whether as many brackets are closed as are opened.
func closed(value string) bool { return strings.Count(value, "[") <= strings.Count(value, "]") }

func (t toml) has(key string) bool { _, ok := t[key]; return ok }

// text returns a string.
func (t toml) text(key string) string { return unquoteTOML(t[key]) }

// list returns a list of strings.
func (t toml) list(key string) []string {
	value := strings.TrimSpace(t[key])
	if !strings.HasPrefix(value, "[") || !strings.HasSuffix(value, "]") {
		return nil
	}
	return splitFlow(value[1 : len(value)-1])
}

// number returns a number, or otherwise where there is none that is above -1.
func (t toml) number(key string, otherwise int) int {
	n, err := strconv.Atoi(strings.ReplaceAll(t[key], "_", ""))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}

func unquoteTOML(s string) string {
	if strings.HasPrefix(s, "'") {
		return strings.Trim(s, "'")
	}
	var text string
	if json.Unmarshal([]byte(s), &text) == nil { // its basic strings are JSON's, some escapes aside
		return text
	}
	return s
}
