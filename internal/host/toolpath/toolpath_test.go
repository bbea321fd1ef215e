package toolpath

import (
	"strings"
	"testing"
)

func TestInCommand(t *testing.T) {
	for command, want := range map[string]string{
		"cat src/main.go":                    "src/main.go",
		"cat a.go b.go | head -n 5":          "a.go b.go",
		"head -n 20 ./x/y.txt; wc -l /tmp/z": "./x/y.txt /tmp/z",
		"cat a.txt > b.txt":                  "a.txt",
		"cat Makefile":                       "", // could be anything
		"cd sub && cat a.go":                 "",
		"cat a.go && cd sub && cat b.go":     "a.go",
		"cat 'a b.go'":                       "",
		"cat $HOME/x.go":                     "",
		"cat src/*.go":                       "",
		"cat <<EOF\ncat a.go\nEOF":           "",
		"git diff origin/main && npm test":   "",
		"sed s/a/b/ x.go":                    "",
		"curl https://example.com/a.json":    "",
		strings.Repeat("cat a.go;", 1000):    "",
		"":                                   "",
		" ; && | ":                           "",
	} {
		if got := strings.Join(InCommand(command), " "); got != want {
			t.Errorf("%.60q: got %q, want %q", command, got, want)
		}
	}
}

func TestFile(t *testing.T) {
	for _, test := range []struct{ path, base, cwd, want string }{
		{"src/a.go", "/w", "/w", "/w/src/a.go"},
		{"a.go", "/w/sub", "/w", "/w/sub/a.go"},
		{"/w", "/w", "/w", ""}, // the directory itself
		{"./", "/w", "/w", ""},
		{"/W", "/w", "/w", "/W"},
		{"", "/w", "/w", ""},
		{strings.Repeat("x", MaxLength+1), "/w", "/w", ""},
		{"a.go", `C:\w`, `C:\w`, `C:\w\a.go`},
		{`c:/W/`, `C:\w`, `C:\w`, ""},
		{"/c/w", `C:\w`, `C:\w`, ""},
	} {
		if got, ok := File(test.path, test.base, test.cwd); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%.40q from %q in %q: got %q, %v, want %q", test.path, test.base, test.cwd, got, ok, test.want)
		}
	}
}
