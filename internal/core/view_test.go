package core

import (
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/google/go-cmp/cmp"
)

// The view of a Windows session also lists each file once.
func TestOneFileOnWindowsInViews(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var set []session.PathUse
	for i, p := range []string{`C:\Users\me\p\src\a.go`, `c:/users/ME/p/src/A.go`, `/c/Users/me/p/src/a.go`, `\\?\C:\Users\me\p\src\a.go`, `src\a.go`,
		`D:\lib\b.go`, `d:/Lib/b.go`, `C:\Users\me\p\test\a.go`} {
		set = append(set, session.PathUse{Path: p, Use: session.Read, At: at.Add(-time.Duration(i) * time.Second)})
	}
	view := View(session.Snapshot{Session: session.Session{Host: session.HostClaudeCode, SessionID: "s", CWD: `C:\Users\me\p`, StartedAt: at, UpdatedAt: at}, WorkingSet: set},
		session.LearnedWindow{}, settings.Default(), session.Rules{}, at)
	if diff := cmp.Diff([]string{"src/a.go", "D:/lib/b.go", "test/a.go"}, view.WorkingSet); diff != "" {
		t.Errorf("to clients (-want +got):\n%s", diff)
	}
}
