package contextfiles

import (
	"strings"
)

// frontmatter is what stands between the --- lines at the beginning of a file, as far as hosts read it: scalars and lists of
// scalars. Where a value is not valid YAML, such as **/*.go, it is the text that was typed, as the hosts take it.
type frontmatter struct {
	end    int // length of the block, with the white space behind it; 0 where there is none
	values map[string][]string
}

// get returns a value, the elements of a list joined by commas.
func (f frontmatter) get(key string) string { return strings.Join(f.values[key], ", ") }

// has reports whether a key is there.
func (f frontmatter) has(key string) bool { _, ok := f.values[key]; return ok }

// readFrontmatter reads the frontmatter of a text that may begin with a byte order mark. As Claude Code does, it takes the first
// --- after the first line for the end, wherever it stands.
func readFrontmatter(text string) (f frontmatter) {
	body := strings.TrimPrefix(text, "\ufeff")
	mark := len(text) - len(body)
	rest, ok := strings.CutPrefix(body, "---")
	if !ok {
		return f
	}
	first, _, ok := strings.Cut(rest, "\n")
	if !ok || strings.TrimFunc(first, isSpace) != "" {
		return f
	}
	rest = rest[len(first)+1:]
	end := strings.Index(rest, "---")
	if end < 0 {
		return f
	}
	yaml, after := rest[:end], rest[end+3:]
	f.end = mark + len(body) - len(strings.TrimLeftFunc(after, isSpace))
	f.values = readYAML(yaml)
	return f
}

// readYAML reads the mapping at the top of a document: plain, quoted and block scalars, and lists of scalars. Deeper structure is
// left out.
func readYAML(document string) map[string][]string {
	values := map[string][]string{}
	lines := strings.Split(strings.ReplaceAll(document, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		key, value, ok := strings.Cut(line, ":")
		if !ok || line[0] == ' ' || line[0] == '\t' || line[0] == '#' || line[0] == '-' || value != "" && value[0] != ' ' && value[0] != '\t' {
			continue
		}
		key = unquote(strings.TrimSpace(key))
		value = strings.TrimSpace(value)
		var below []string
		for i+1 < len(lines) && (strings.TrimSpace(lines[i+1]) == "" || lines[i+1][0] == ' ' || lines[i+1][0] == '\t' || strings.HasPrefix(lines[i+1], "- ")) {
			i++
			below = append(below, lines[i])
		}
		values[key] = readValue(value, below)
	}
	return values
}

// readValue reads one value: what stands behind the colon, and the indented lines below.
func readValue(value string, below []string) []string {
	switch {
	case value != "" && (value[0] == '|' || value[0] == '>'):
		return []string{readBlock(value, below)}
	case strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]"):
		return splitFlow(value[1 : len(value)-1])
	case value == "" || value[0] == '#':
		var list []string
		for _, line := range below {
			if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
				list = append(list, unquote(plain(strings.TrimSpace(item))))
			}
		}
		return list
	}
	for _, line := range below { // a scalar goes on in lines that are indented
		if line = strings.TrimSpace(line); line != "" {
			value += " " + line
		}
	}
	return []string{unquote(plain(value))}
}

// readBlock reads a block scalar, whose header is | or > with an optional - or +.
func readBlock(header string, below []string) string {
	indent := -1
	for i, line := range below {
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" && indent < 0 {
			indent = len(line) - len(trimmed)
		}
		below[i] = line[min(max(indent, 0), len(line)-len(strings.TrimLeft(line, " "))):]
	}
	text := strings.TrimRight(strings.Join(below, "\n"), "\n")
	if header[0] == '>' {
		paragraphs := strings.Split(text, "\n\n")
		for i, p := range paragraphs {
			paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
		}
		text = strings.Join(paragraphs, "\n")
	}
	if !strings.Contains(header, "-") && text != "" {
		text += "\n"
	}
	return text
}

// splitFlow splits the inside of a list in brackets.
func splitFlow(inside string) (list []string) {
	quote, start := byte(0), 0
	for i := 0; i <= len(inside); i++ {
		switch {
		case i == len(inside) || quote == 0 && inside[i] == ',':
			if item := strings.TrimSpace(inside[start:i]); item != "" {
				list = append(list, unquote(item))
			}
			start = i + 1
		case quote == 0 && (inside[i] == '"' || inside[i] == '\''):
			quote = inside[i]
		case inside[i] == quote:
			quote = 0
		}
	}
	return list
}

// plain removes the comment behind a plain scalar.
func plain(s string) string {
	if s == "" || s[0] == '"' || s[0] == '\'' {
		return s
	}
	if at := strings.Index(s, " #"); at >= 0 {
		return strings.TrimSpace(s[:at])
	}
	return s
}

// unquote returns a scalar without its quotes.
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch s[0] {
	case '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	case '"':
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(s[1 : len(s)-1])
	}
	return s
}
