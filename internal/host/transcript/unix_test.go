//go:build unix

package transcript

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Opening a FIFO waits for a writer that may never come.
func TestAFIFONeverBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if reading, err := Read(t.Context(), path, session.Cursor{}, letters); !errors.Is(err, errNotRegular) || len(reading.Entries) > 0 {
		t.Errorf("got %+v, %v", reading, err)
	}
	if f, err := openNonblocking(path); err != nil { // as when the file became one after it was looked at
		t.Error(err)
	} else {
		f.Close()
	}
}
