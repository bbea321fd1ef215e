package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// quotedMessage is the first cell of a row of docs/troubleshooting.md: a message as the program writes it.
var quotedMessage = regexp.MustCompile("(?m)^\\| (`[^`]+`|[^|]*) \\|")

// docs/troubleshooting.md explains only messages that the program, an adapter or an editor's extension can write. Each
// message is in a string of their sources, with any text for each "…".
func TestTroubleshootingQuotesRealMessages(t *testing.T) {
	text, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	literals := literalsOfTheTree(t)
	seen := map[string]bool{}
	for _, row := range quotedMessage.FindAllStringSubmatch(string(text), -1) {
		message, quoted := strings.CutPrefix(row[1], "`")
		if message = strings.TrimSuffix(message, "`"); !quoted {
			if message != "message" && strings.Trim(message, "-") != "" {
				t.Errorf("a row begins with %q, which is no message in backquotes", message)
			}
			continue
		}
		if seen[message] {
			t.Errorf("%q is explained twice", message)
		}
		seen[message] = true
		if !quotes(message, literals) {
			t.Errorf("no string in the sources holds %q", message)
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d messages, want those of all tables", len(seen))
	}
	for _, wrong := range []string{"hook failed badly", "the state is busy: another process has …held it", "…"} {
		if quotes(wrong, literals) {
			t.Errorf("%q should be found nowhere", wrong)
		}
	}
}

// quotes reports whether one of the strings contains a message. It ignores a string that is nearly all "…".
func quotes(message string, literals []string) bool {
	if len(strings.ReplaceAll(message, "…", "")) < 7 {
		return false
	}
	var pattern strings.Builder
	for i, part := range strings.Split(message, "…") {
		if i > 0 {
			pattern.WriteString(`\S.*`) // a verb stands for at least one character
		}
		pattern.WriteString(regexp.QuoteMeta(part))
	}
	whole := regexp.MustCompile(strings.TrimSuffix(strings.TrimPrefix(pattern.String(), `\S.*`), `\S.*`))
	return slices.ContainsFunc(literals, whole.MatchString)
}

// script matches the strings of Lua, JavaScript and TypeScript.
var script = regexp.MustCompile("'(?:[^'\\\\\n]|\\\\.)*'|\"(?:[^\"\\\\\n]|\\\\.)*\"|`(?:[^`\\\\]|\\\\.)*`")

// literalsOfTheTree returns the strings in the sources of the program, the adapters and the extensions, tests aside.
func literalsOfTheTree(t *testing.T) (literals []string) {
	t.Helper()
	for _, root := range []string{"../cmd", "../internal", "../adapters", "../editors/vscode/src", "../editors/neovim/lua"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			switch filepath.Ext(path) {
			case ".go":
				if strings.HasSuffix(path, "_test.go") {
					return nil
				}
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
				if err != nil {
					return err
				}
				ast.Inspect(file, func(n ast.Node) bool {
					if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						if s, err := strconv.Unquote(lit.Value); err == nil {
							literals = append(literals, s)
						}
					}
					return true
				})
			case ".ts", ".js", ".lua":
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				for _, lit := range script.FindAllString(string(text), -1) {
					literals = append(literals, strings.NewReplacer(`\'`, "'", `\"`, `"`).Replace(lit[1:len(lit)-1]))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return literals
}
