package core

import "testing"

func TestPathOfURI(t *testing.T) {
	tests := []struct{ uri, unix, windows string }{
		{"file:///home/me/project", "/home/me/project", `\home\me\project`},
		{"file:///home/me/project/", "/home/me/project", `\home\me\project`},
		{"file:///", "/", `\`},
		{"FILE:///home/me", "/home/me", `\home\me`},
		{"file://localhost/home/me", "/home/me", `\home\me`},
		{"file:///home/a%20b%23c%3Fd", "/home/a b#c?d", `\home\a b#c?d`},
		{"file:///home/%C3%A9t%C3%A9", "/home/été", `\home\été`},
		{"file:///home/été", "/home/été", `\home\été`},
		{"file:///home/100%25", "/home/100%", `\home\100%`},
		{"file:///c%3A/Users/me", "/c:/Users/me", `C:\Users\me`},
		{"file:///C:/Users/me/", "/C:/Users/me", `C:\Users\me`},
		{"file:///c:", "/c:", `C:\`},
		{"file:///c:/", "/c:", `C:\`},
		{"file://server/share/dir", "", `\\server\share\dir`},
		{"untitled:Untitled-1", "", ""},
		{"vscode-remote://ssh/home/me", "", ""},
		{"/home/me", "", ""},
		{"file:home", "", ""},
		{"file://", "", ""},
		{"file:///bad%zz", "", ""},
		{"", "", ""},
	}
	for _, test := range tests {
		for windows, want := range map[bool]string{false: test.unix, true: test.windows} {
			got, err := pathOfURI(test.uri, windows)
			if got != want || (err != nil) != (want == "") {
				t.Errorf("pathOfURI(%q, windows %v) = %q, %v, want %q", test.uri, windows, got, err, want)
			}
		}
	}
}
