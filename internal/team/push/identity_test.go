package push

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	// Two programs that begin at once are one machine.
	found := make([]*Identity, 8)
	var all sync.WaitGroup
	for i := range found {
		all.Go(func() {
			id, err := OpenIdentity(dir, false)
			if err != nil {
				t.Error(err)
			}
			found[i] = id
		})
	}
	all.Wait()
	for _, id := range found {
		if t.Failed() || id.Machine != found[0].Machine || id.Salt != found[0].Salt {
			t.Fatalf("one directory, two machines: %+v and %+v", found[0], id)
		}
	}
	id := found[0]
	known, first, err := id.Next("a")
	if err != nil || len(known) != 0 {
		t.Fatalf("the first claim: %v, %v", known, err)
	}
	// The process dies before it hears whether the claim arrived: either may be the last.
	id, err = OpenIdentity(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	known, second, err := id.Next("a")
	if err != nil || !slices.Equal(known, []string{first}) {
		t.Fatalf("the second claim knows %v, %v; want %v", known, err, first)
	}
	if err := id.Granted("a", second); err != nil {
		t.Fatal(err)
	}
	id, _ = OpenIdentity(dir, false)
	if known, _, _ := id.Next("a"); !slices.Equal(known, []string{second}) {
		t.Errorf("after a claim that arrived %v are known, want %v", known, second)
	}
	if known, _, _ := id.Next("b"); len(known) != 0 {
		t.Errorf("another database has claims: %v", known)
	}
	if other, err := OpenIdentity(dir, true); err != nil || other.Machine == id.Machine || other.Salt == id.Salt {
		t.Errorf("another machine: %+v, %v", other, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "fleet.json")); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others may read the salt: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fleet.json"), []byte(`{"machine":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenIdentity(dir, false); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a damaged file: %v", err)
	}
}
