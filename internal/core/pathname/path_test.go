package pathname

import (
	"testing"
)

// Every spelling of a Windows path that programs, users, shells and editors use, with the form that is compared.
var spellings = []struct{ path, slashed string }{
	{`C:\src\a.go`, "C:/src/a.go"},
	{`c:\src\a.go`, "C:/src/a.go"},
	{`C:/src/a.go`, "C:/src/a.go"},
	{`c:\src/./lib\../a.go`, "C:/src/a.go"},
	{`C:\src\a.go\`, "C:/src/a.go"},
	{`C:/src//a.go//`, "C:/src/a.go"},
	{`\\?\C:\src\a.go`, "C:/src/a.go"},
	{`//?/c:/src/a.go`, "C:/src/a.go"},
	{`/c/src/a.go`, "C:/src/a.go"},          // Git Bash
	{`/C/src/a.go`, "C:/src/a.go"},          //
	{`/cygdrive/c/src/a.go`, "C:/src/a.go"}, // Cygwin
	{`/mnt/c/src/a.go`, "C:/src/a.go"},      // WSL
	{`C:\`, "C:/"},
	{`c:/`, "C:/"},
	{`C:\..\..`, "C:/"}, // a drive has no parent
	{`/c`, "C:/"},
	{`/c/`, "C:/"},
	{`/mnt/c`, "C:/"},
	{`C:`, "C:"}, // the drive's current directory, which is unknown
	{`c:a.go`, "C:a.go"},
	{`\\server\share\x`, "//server/share/x"},
	{`//server/share/x/`, "//server/share/x"},
	{`\\server/share\lib\..\x`, "//server/share/x"},
	{`\\?\UNC\server\share\x`, "//server/share/x"},
	{`\\server\share`, "//server/share/"},
	{`\\server\share\..\..\x`, "//server/share/x"}, // a share has no parent
	{`\\wsl$\Ubuntu\home\me`, "//wsl$/Ubuntu/home/me"},
	{`\src\a.go`, "/src/a.go"},
	{`/tmp/a.go`, "/tmp/a.go"}, // a path of a shell, not a drive
	{`/cc/a.go`, "/cc/a.go"},
	{`/mnt/data/a.go`, "/mnt/data/a.go"},
	{`/1/a.go`, "/1/a.go"},
	{`src\a.go`, "src/a.go"},
	{`..\a.go`, "../a.go"},
	{`.`, "."},
	{``, ""},
}

func TestPathsOfWindows(t *testing.T) {
	for _, tt := range spellings {
		if got := Slashed(tt.path, true); got != tt.slashed {
			t.Errorf("Slashed(%s) = %s, want %s", tt.path, got, tt.slashed)
		}
		if got := Slashed(tt.slashed, true); got != tt.slashed {
			t.Errorf("Slashed(%s) = %s: not twice the same", tt.slashed, got)
		}
		if got := Slashed(Native(tt.path, true), true); got != tt.slashed {
			t.Errorf("Native(%s) = %s, another place", tt.path, Native(tt.path, true))
		}
		if got := Native(tt.path, false); got != tt.path {
			t.Errorf("Native(%s) = %s where there is no Windows", tt.path, got)
		}
	}
	for native, path := range map[string]string{
		`C:\src\a.go`: "/c/src//a.go", `C:\`: "/c", `\\server\share\x`: "//server/share/x/", `src\a.go`: "src/a.go", "": "",
	} {
		if got := Native(path, true); got != native {
			t.Errorf("Native(%s) = %s, want %s", path, got, native)
		}
	}
	for path, want := range map[string]string{
		"/home/me/": "/home/me", `/home/odd\name`: `/home/odd\name`, "/c/src": "/c/src", "//a//b": "/a/b", "C:/x": "C:/x", "": "",
	} {
		if got := Slashed(path, false); got != want {
			t.Errorf("Slashed(%s) = %s where there is no Windows, want %s", path, got, want)
		}
	}
}

func TestParent(t *testing.T) {
	for path, want := range map[string]string{
		`C:\src\a.go`: "C:/src", `C:\src`: "C:/", `C:\`: "C:/", `/c/src/`: "C:/", `\\server\share\x`: "//server/share/",
		`\\server\share`: "//server/share/", `C:`: "C:", "/tmp": "/", "/": "/",
	} {
		if got := Parent(path, true); got != want {
			t.Errorf("Parent(%s) = %s, want %s", path, got, want)
		}
	}
	if got := Parent(`/home/a\b/c/`, false); got != `/home/a\b` {
		t.Errorf("Parent = %s where there is no Windows", got)
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		folder, cwd string
		windows     bool
		want        bool
	}{
		{`C:\src`, `c:\SRC\engine`, true, true},
		{`c:/src/`, `C:\src`, true, true},
		{`C:\src`, `C:\srcs`, true, false},
		{`C:\src\engine`, `C:\src`, true, false},
		{`C:\`, `C:\src`, true, true},
		{`C:\`, `C:\`, true, true},
		{`D:\`, `C:\src`, true, false},
		{`C:\src`, `/c/src/engine`, true, true},
		{`C:\Users\Me`, `/mnt/c/users/me/p`, true, true},
		{`/c/src`, `\\?\C:\src\engine\`, true, true},
		{`C:\src`, `C:\src\..\other`, true, false},
		{`\\server\share`, `\\SERVER\share\x`, true, true},
		{`\\server\share\`, `//server/share`, true, true},
		{`\\server\share`, `\\server\shares`, true, false},
		{`\\server\share`, `\\other\share\x`, true, false},
		{`C:\Été`, `C:\ÉTÉ\x`, true, true},
		{"", `C:\src`, true, false},
		{`C:\src`, "", true, false},
		{"/home/me", "/home/me/p", false, true},
		{"/home/me/", "/home/me", false, true},
		{"/", "/home", false, true},
		{"/", "/", false, true},
		{"/home/me", "/home/men", false, false},
		{"/home/me", "/home/Me/p", false, false},
		{"/c/src", "C:/src", false, false},
		{`/home/me`, `/home/me\p`, false, false},
	} {
		if got := Within(tt.folder, tt.cwd, tt.windows); got != tt.want {
			t.Errorf("Within(%s, %s, windows %v) = %v", tt.folder, tt.cwd, tt.windows, got)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, tt := range []struct{ cwd, path, want string }{
		{"/w", "src/a.go", "/w/src/a.go"},
		{"/w/sub", "../a.go", "/w/a.go"},
		{"/w", "/etc/hosts", "/etc/hosts"},
		{"/w", `C:\a.go`, `C:\a.go`},
		{"/w", `\\server\a.go`, `\\server\a.go`},
		{"/w", `odd\name.go`, `/w/odd\name.go`},
		{"", "a.go", "a.go"},
		{"w", "a.go", "a.go"},
		{"/w", "", ""},
		{`C:\w`, "", ""},
		{`C:\w`, `a.go`, `C:\w\a.go`},
		{`c:/w/`, `src/lib\..\a.go`, `C:\w\src\a.go`},
		{`C:\w`, `..\..\..\a.go`, `C:\a.go`},
		{`C:\w`, `D:\a.go`, `D:\a.go`},
		{`C:\w`, `d:/a.go`, `d:/a.go`}, // an absolute path stays unchanged
		{`C:\w`, `c:a.go`, `C:\w\a.go`},
		{`C:\w`, `D:a.go`, `D:a.go`}, // the directory of another drive
		{`C:\w`, `\a.go`, `C:\a.go`},
		{`C:\w`, `/d/a.go`, `D:\a.go`},
		{`C:\w`, `/mnt/c/a.go`, `C:\a.go`},
		{`C:\w`, `/tmp/a.go`, `/tmp/a.go`},
		{`C:\w`, `\\server\share\a.go`, `\\server\share\a.go`},
		{`\\server\share\w`, `a.go`, `\\server\share\w\a.go`},
		{`\\server\share\w`, `\a.go`, `\\server\share\a.go`},
	} {
		if got := Join(tt.cwd, tt.path); got != tt.want {
			t.Errorf("Join(%s, %s) = %s, want %s", tt.cwd, tt.path, got, tt.want)
		}
	}
	for path, want := range map[string]bool{"/x": true, `C:\x`: true, "c:/x": true, `\\server\x`: true, "C:x": false, "1:/x": false, `\x`: false, "x": false, "": false} {
		if got := IsAbsolute(path); got != want {
			t.Errorf("IsAbsolute(%s) = %v", path, got)
		}
	}
}
