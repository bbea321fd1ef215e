package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
)

// What a session worked on cannot be read in the files once it is forgotten, not even with a look at their bytes.
func TestForgottenSessionsLeaveNoBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	key := core.Key{Host: core.HostClaudeCode, SessionID: "s1"}
	update := func(changes core.Changes) {
		t.Helper()
		if err := s.Update(t.Context(), core.Query{Key: key}, func(core.State) core.Changes { return changes }); err != nil {
			t.Fatal(err)
		}
	}
	update(core.Changes{Session: &core.Session{Host: key.Host, SessionID: key.SessionID, CWD: "/secret-directory", Title: "secret-title", PromptText: "secret-prompt"},
		Paths: []core.PathUse{{Path: "/secret-path", Use: core.Read, At: time.Now()}}})
	secrets := []string{"secret-directory", "secret-title", "secret-prompt", "secret-path"}
	found := func() (left []string) {
		for _, name := range []string{path, path + "-wal"} {
			data, err := os.ReadFile(name)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			for _, secret := range secrets {
				if bytes.Contains(data, []byte(secret)) {
					left = append(left, filepath.Base(name)+": "+secret)
				}
			}
		}
		return left
	}
	if len(found()) < len(secrets) {
		t.Fatalf("the session is not in the files: %v", found())
	}
	update(core.Changes{Delete: true})
	if left := found(); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
