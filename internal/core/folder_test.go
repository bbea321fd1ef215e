package core

import "testing"

func TestWithinAFolderOfWindows(t *testing.T) {
	for _, test := range []struct {
		folder, cwd string
		want        bool
	}{
		{`C:\src`, `c:\SRC\engine`, true},
		{`c:/src/`, `C:\src`, true},
		{`C:\src`, `C:\srcs`, false},
		{`C:\`, `C:\src`, true},
		{`D:\`, `C:\src`, false},
		{`\\server\share`, `\\SERVER\share\x`, true},
	} {
		if got := Within(test.folder, test.cwd, true); got != test.want {
			t.Errorf("Within(%s, %s) = %v", test.folder, test.cwd, got)
		}
	}
}
