package claudecode

import (
	"strings"

	"github.com/ctxls/ctxls/internal/host/settings"
)

// ownLine is a status line command of ours. Claude Code hands it to a shell, so it is one line: ctxls statusline --then 'CMD'.
type ownLine struct {
	executable string
	options    []string // others than --then
	then       string   // the command that it runs in turn
	wraps      bool     // there is one
}

// String returns the line, quoted for a POSIX shell, which Claude Code uses on every system: on Windows that of Git, and PowerShell
// only where there is none, which reads the same where no word needs quotes before the first argument.
func (l ownLine) String() string {
	words := append([]string{l.executable, "statusline"}, l.options...)
	if l.wraps {
		words = append(words, "--then", l.then)
	}
	for i, word := range words {
		words[i] = quote(word)
	}
	return strings.Join(words, " ")
}

// parseStatusLine reads a command line, and reports whether it is one of ours.
func parseStatusLine(command string) (line ownLine, own bool) {
	words, ok := shellWords(command)
	if !ok || len(words) < 2 || !settings.IsOwn(words[0]) || words[1] != "statusline" {
		return ownLine{}, false
	}
	line.executable = words[0]
	for i := 2; i < len(words); i++ {
		if words[i] == "--then" && i+1 < len(words) {
			i++
			line.then, line.wraps = words[i], true
		} else if then, found := strings.CutPrefix(words[i], "--then="); found {
			line.then, line.wraps = then, true
		} else {
			line.options = append(line.options, words[i])
		}
	}
	return line, true
}

// quote returns a word as a shell reads it back.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:=@%,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// shellWords parts a command line into its words, and reports whether it is a single plain command: quotes and escapes are
// understood, whatever a shell would expand or chain is not.
func shellWords(s string) (words []string, ok bool) {
	var word strings.Builder
	started := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n':
			if started {
				words = append(words, word.String())
				word.Reset()
				started = false
			}
			continue
		case '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word.WriteString(s[i+1 : i+1+end])
			i += end + 1
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
					i++
				} else if s[i] == '$' || s[i] == '`' {
					return nil, false
				}
				word.WriteByte(s[i])
			}
			if i == len(s) {
				return nil, false
			}
		case '\\':
			if i++; i == len(s) {
				return nil, false
			}
			word.WriteByte(s[i])
		case '|', '&', ';', '<', '>', '(', ')', '$', '`', '#', '*', '?', '~':
			return nil, false
		default:
			word.WriteByte(c)
		}
		started = true
	}
	if started {
		words = append(words, word.String())
	}
	return words, len(words) > 0
}
