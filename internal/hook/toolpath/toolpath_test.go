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

func TestAbsolute(t *testing.T) {
	for _, test := range []struct{ path, cwd, want string }{
		{"src/a.go", "/w", "/w/src/a.go"},
		{"../a.go", "/w/sub", "/w/a.go"},
		{"/etc/hosts", "/w", "/etc/hosts"},
		{`C:\a.go`, "/w", `C:\a.go`},
		{`\\server\a.go`, "/w", `\\server\a.go`},
		{"a.go", `C:\w`, "a.go"}, // the separator is not known
		{"a.go", "", "a.go"},
		{"", "/w", ""},
	} {
		if got := Absolute(test.path, test.cwd); got != test.want {
			t.Errorf("%q in %q: got %q, want %q", test.path, test.cwd, got, test.want)
		}
	}
}
