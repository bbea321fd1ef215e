package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The directories that are searched for a workspace's file.
func TestUpTo(t *testing.T) {
	for _, test := range []struct {
		cwd, home string
		windows   bool
		want      []string
	}{
		{"/home/me/p/src/", "/home/me", false, []string{"/home/me/p/src", "/home/me/p", "/home/me"}},
		{"/srv/p", "/home/me", false, []string{"/srv/p", "/srv", "/"}},
		{"/srv", "", false, []string{"/srv", "/"}},
		{"/", "/root", false, []string{"/"}},
		{"p", "/home/me", false, nil},
		{"", "/home/me", false, nil},
		{`C:\Users\me\p`, `c:\users\ME\`, true, []string{`C:\Users\me\p`, `C:\Users\me`}},
		{`c:/src/p`, `C:\Users\me`, true, []string{`C:\src\p`, `C:\src`, `C:\`}},
		{`/c/src/p`, `C:\Users\me`, true, []string{`C:\src\p`, `C:\src`, `C:\`}}, // from a script in Git Bash
		{`\\?\C:\src`, `C:\Users\me`, true, []string{`C:\src`, `C:\`}},
		{`\\server\share\p`, `C:\Users\me`, true, []string{`\\server\share\p`, `\\server\share\`}},
		{`C:p`, `C:\Users\me`, true, nil},
		{`\src\p`, `C:\Users\me`, true, nil},
		{`/tmp/p`, `C:\Users\me`, true, nil}, // a path that only the shell resolves
		{``, `C:\Users\me`, true, nil},
	} {
		if diff := cmp.Diff(test.want, upTo(test.cwd, test.home, test.windows)); diff != "" {
			t.Errorf("%s with home %s, windows %v (-want +got):\n%s", test.cwd, test.home, test.windows, diff)
		}
	}
}
