//go:build !windows

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/testuser"
)

func init() { roles["full"] = fullRole }

// setUmask sets the process's umask until the test ends.
func setUmask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

// fullRole sets a limit on the size of files. A write beyond it fails as on a full disk.
func fullRole(ctx context.Context, path string, _ []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	const limit = 128 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	s, err := must(ctx, path)
	if err != nil {
		return err
	}
	for i := range 1000 {
		err := hookEvent(ctx, s, i)
		if err == nil {
			continue
		}
		if coded.CodeOf(err) != coded.Unavailable {
			return fmt.Errorf("code %s: %w: %w", coded.CodeOf(err), err, errors.Unwrap(err))
		}
		fleet, err := s.Fleet(ctx, 0) // reading still works
		fmt.Println(i > 0, fleet.Tokens, err)
		return nil
	}
	return errors.New("the limit was never met")
}

func TestAFullDiskIsUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	output, err := process(t, "full", path).CombinedOutput()
	if err != nil || string(output) != "true [] <nil>\n" {
		t.Errorf("%v: %s", err, output)
	}
	found, err := open(t, path).Sessions(t.Context(), core.SessionFilter{})
	if err != nil || len(found) != 1 {
		t.Errorf("what was saved before: %v %v", found, err)
	}
}

func TestTooLittleRoomToBegin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := open(t, path)
	if err := s.run(t.Context(), true, func(ctx context.Context, c *conn) error {
		_, err := c.row(t.Context(), "PRAGMA max_page_count = 1", nil, new(int))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 0; i < 1000 && err == nil; i++ {
		err = hookEvent(t.Context(), s, i)
	}
	if coded.CodeOf(err) != coded.Unavailable || err.Error() != "the state could not be written: the disk is full" {
		t.Errorf("%v", err)
	}
}

func TestAReadOnlyDirectoryIsUnavailable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	testuser.WithoutPrivilege(t, func() {
		for _, path := range []string{filepath.Join(dir, "new.db"), filepath.Join(dir, "new", "state.db")} {
			_, err := Open(context.Background(), Options{Path: path})
			if coded.CodeOf(err) != coded.Unavailable {
				t.Errorf("%s: %v (%s)", path, err, coded.CodeOf(err))
			}
		}
	})
}

// processTime returns the processor time of this process.
func processTime(tb testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
