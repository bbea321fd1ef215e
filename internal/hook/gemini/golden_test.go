package gemini

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Every payload that was captured from the host, and what it is decoded to.
func TestDecodeCapturedPayloads(t *testing.T) {
	var got bytes.Buffer
	for _, file := range glob(t, "testdata/payloads/*.json") {
		base := filepath.Base(file)
		ev, err := New().Decode("", readFile(t, file))
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		if want, _, _ := strings.Cut(base, "."); ev.Name != want {
			t.Errorf("%s: decoded as %q", base, ev.Name)
		}
		fmt.Fprintf(&got, "-- %s --\n%s\n", base, show(t, ev))
	}
	golden(t, "testdata/payloads.golden", got.Bytes())
}

// Every captured transcript, read at first sight and read from its second line on.
func TestReadCapturedTranscripts(t *testing.T) {
	var got bytes.Buffer
	for _, file := range glob(t, "testdata/transcripts/*.jsonl") {
		first, err := New().Read(t.Context(), file, core.Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		data := readFile(t, file)
		if first.From != 0 || first.Cursor.Offset != int64(len(data)) {
			t.Errorf("%s: read %d to %d, want all %d bytes", file, first.From, first.Cursor.Offset, len(data))
		}
		from := first.Cursor
		from.Offset = int64(bytes.IndexByte(data, '\n') + 1)
		rest, err := New().Read(t.Context(), file, from)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "-- %s: first sight --\n%s\n", filepath.Base(file), show(t, first.Entries))
		fmt.Fprintf(&got, "-- %s: forward --\n%s\n", filepath.Base(file), show(t, rest.Entries))
	}
	golden(t, "testdata/transcripts.golden", got.Bytes())
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files (%v)", pattern, err)
	}
	return files
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(readFile(t, file)), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", file, diff)
	}
}

// show renders a value as JSON without its zero members.
func show(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(prune(tree)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			switch member = prune(member); member {
			case nil, "", 0.0, false, "0001-01-01T00:00:00Z":
				delete(v, key)
			default:
				v[key] = member
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	}
	return v
}
