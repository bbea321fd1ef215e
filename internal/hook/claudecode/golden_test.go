package claudecode

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/hook/hooktest"
)

// Every payload that was captured from the host, and what it is decoded to.
func TestDecodeCapturedPayloads(t *testing.T) {
	var got bytes.Buffer
	for _, file := range hooktest.Glob(t, "testdata/payloads/*.json") {
		base := filepath.Base(file)
		name := ""
		if strings.HasPrefix(base, "StatusLine.") {
			name = "StatusLine"
		}
		ev, err := New(nil).Decode(name, hooktest.ReadFile(t, file))
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		if want, _, _ := strings.Cut(base, "."); ev.Name != want {
			t.Errorf("%s: decoded as %q", base, ev.Name)
		}
		fmt.Fprintf(&got, "-- %s --\n%s\n", base, hooktest.Show(t, ev))
	}
	hooktest.Golden(t, "testdata/payloads.golden", got.Bytes())
}

// Every captured transcript, read at first sight and read from its second line on.
func TestReadCapturedTranscripts(t *testing.T) {
	var got bytes.Buffer
	for _, file := range hooktest.Glob(t, "testdata/transcripts/*.jsonl") {
		first, err := New(nil).Read(t.Context(), file, core.Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		data := hooktest.ReadFile(t, file)
		if first.From != 0 || first.Cursor.Offset != int64(len(data)) {
			t.Errorf("%s: read %d to %d, want all %d bytes", file, first.From, first.Cursor.Offset, len(data))
		}
		from := first.Cursor
		from.Offset = int64(bytes.IndexByte(data, '\n') + 1)
		rest, err := New(nil).Read(t.Context(), file, from)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "-- %s: first sight --\n%s\n", filepath.Base(file), hooktest.Show(t, first.Entries))
		fmt.Fprintf(&got, "-- %s: forward --\n%s\n", filepath.Base(file), hooktest.Show(t, rest.Entries))
	}
	hooktest.Golden(t, "testdata/transcripts.golden", got.Bytes())
}
