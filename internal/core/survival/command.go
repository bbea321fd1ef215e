package survival

import (
	"encoding/json"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/text"
)

// CommandOf returns the command in the arguments of a call to a shell, "" where there is none: the member command or cmd, a text or the
// words of a program such as ["bash", "-lc", "go test ./..."].
func CommandOf(arguments string) string {
	var call struct{ Command, Cmd any }
	if json.Unmarshal([]byte(arguments), &call) != nil {
		return ""
	}
	given := call.Command
	if given == nil {
		given = call.Cmd
	}
	if whole, ok := given.(string); ok {
		return whole
	}
	list, _ := given.([]any)
	words := make([]string, len(list))
	for i := range list {
		var ok bool
		if words[i], ok = list[i].(string); !ok {
			return ""
		}
	}
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2]
	}
	return strings.Join(words, " ")
}

// inspectors are programs that only look at something, or change where the shell is: what they show is no longer of use.
var inspectors = map[string]bool{
	"cd": true, "pushd": true, "popd": true, "ls": true, "cat": true, "head": true, "tail": true, "less": true, "more": true, "nl": true, "wc": true,
	"grep": true, "egrep": true, "rg": true, "ag": true, "find": true, "fd": true, "tree": true, "pwd": true, "echo": true, "printf": true,
	"which": true, "type": true, "file": true, "stat": true, "du": true, "df": true, "sed": true, "awk": true, "sort": true, "uniq": true,
	"cut": true, "tr": true, "jq": true, "diff": true, "sleep": true, "true": true, "false": true, "test": true, "[": true, "env": true,
	"export": true, "set": true, "unset": true, "source": true, ".": true, "ps": true, "kill": true, "date": true, "xxd": true, "hexdump": true,
	"if": true, "then": true, "else": true, "fi": true, "for": true, "do": true, "done": true, "while": true, "case": true, "esac": true,
	"mkdir": true, "rm": true, "cp": true, "mv": true, "touch": true, "chmod": true, "xargs": true, "tee": true, "wait": true, "exit": true,
}

// gitLooks are the subcommands of git that only look.
var gitLooks = map[string]bool{"status": true, "diff": true, "log": true, "show": true, "branch": true, "blame": true, "rev-parse": true, "ls-files": true, "remote": true}

// SplitCommand returns the commands of a shell's text that may be worth running again: what stands between && ; and line ends, without
// assignments before it, the tail of a pipe and redirections, and without those that only look. Texts with here-documents, and
// whatever is not one line, are left out: they are no commands to repeat.
func SplitCommand(whole string) []string {
	if len(whole) > 4096 || strings.Contains(whole, "<<") || !utf8.ValidString(whole) {
		return nil
	}
	var commands []string
	for _, one := range splitOutsideQuotes(whole) {
		words := strings.Fields(one)
		for len(words) > 0 && isAssignment(words[0]) {
			words = words[1:]
		}
		for len(words) > 0 && isRedirection(words[len(words)-1]) {
			words = words[:len(words)-1]
		}
		if len(words) == 0 || inspectors[words[0]] || strings.ContainsAny(words[0], "#(){}\"'$`") || words[0] == "git" && (len(words) < 2 || gitLooks[words[1]]) {
			continue
		}
		one = strings.Join(words, " ")
		if strings.ContainsAny(strings.Trim(one, "\n"), "\n") || strings.Count(one, `"`)%2+strings.Count(one, `'`)%2 > 0 && !strings.Contains(one, `"`) {
			continue
		}
		commands = append(commands, one)
	}
	return commands
}

// splitOutsideQuotes splits at && || ; and line ends, and drops what follows a pipe, as far as they are not quoted.
func splitOutsideQuotes(s string) (parts []string) {
	var quote byte
	start, piped := 0, -1
	end := func(at, next int) {
		if piped >= 0 {
			at = piped
		}
		parts = append(parts, s[start:at])
		start, piped = next, -1
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\n' || c == ';':
			end(i, i+1)
		case (c == '&' || c == '|') && i+1 < len(s) && s[i+1] == c:
			end(i, i+2)
			i++
		case c == '|' && piped < 0:
			piped = i
		}
	}
	if quote == 0 {
		end(len(s), len(s))
	}
	return parts
}

func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

func isRedirection(word string) bool {
	return word == "2>&1" || word == "&" || strings.HasPrefix(word, ">") || strings.HasPrefix(word, "2>") || strings.HasPrefix(word, "&>") || word == "/dev/null"
}

// discounted reports whether a command is seldom run again in the same words.
func discounted(command string) bool {
	for _, prefix := range []string{"git add", "git commit", "git checkout"} {
		if strings.HasPrefix(command, prefix) {
			return true
		}
	}
	return utf8.RuneCountInString(command) > maxCommand
}

// Shown returns a command as it is shown.
func (c Command) Shown() string { return text.Sanitize(c.Text, maxCommand) }

// OfProject reports whether a command is of the project rather than of git and the like.
func (c Command) OfProject() bool {
	name, _, _ := strings.Cut(c.Text, " ")
	switch path.Base(name) {
	case "git", "gh", "brew", "apt", "curl", "wget", "which", "open":
		return false
	}
	return true
}
