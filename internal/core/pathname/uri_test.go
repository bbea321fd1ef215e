package pathname

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
		{"file:///c%3A/x/", "/c:/x", `C:\x`},
		{"file:///c%3a/a%20b//c", "/c:/a b//c", `C:\a b\c`},
		{"file:/c:/x", "/c:/x", `C:\x`},
		{"file:///c/Users/me", "/c/Users/me", `C:\Users\me`}, // an editor started by Git Bash
		{"file:////server/share/dir", "//server/share/dir", `\\server\share\dir`},
		{"file://wsl%24/Ubuntu/home/me", "", `\\wsl$\Ubuntu\home\me`}, // as VS Code writes it
		{"file://wsl.localhost/Ubuntu/home/me/", "", `\\wsl.localhost\Ubuntu\home\me`},
		{"file://a%2Fb/x", "", ""},
		{"file://a%zz/x", "", ""},
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
	for uri, want := range map[string]string{
		"file:///home/me": "/home/me", "file:///c%3A/x": `C:\x`, "file://server/share": `\\server\share\`, "https://x/y": "", "file://%zz": "",
	} {
		if got, err := OfAnyURI(uri); got != want || (err != nil) != (want == "") {
			t.Errorf("PathOfAnyURI(%q) = %q, %v, want %q", uri, got, err, want)
		}
	}
}
