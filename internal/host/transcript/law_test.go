package transcript

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Whatever the file, the pieces, and the places where reading was interrupted: what is read forward is every line that is
// short enough, once.
func TestReadingInIncrementsIsReadingAtOnce(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		b := bounds{
			piece: rapid.Int64Range(1, 12).Draw(t, "piece"),
			line:  rapid.Int64Range(4, 16).Draw(t, "line"),
			reach: 1 << 20,
		}
		content := drawFile(t)
		path := filepath.Join(dir, "session.jsonl")
		os.Remove(path) // rather than truncate it, which some file systems answer with a flush to disk
		if err := os.WriteFile(path, []byte("first\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		begin, err := read(context.Background(), path, session.Cursor{}, letters, b)
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		cursor := begin.Cursor
		for rest := content; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "step")
			appendTo(t, path, rest[:n])
			rest = rest[n:]
			reading, err := read(context.Background(), path, cursor, letters, b)
			if err != nil || reading.Restarted || reading.From != cursor.Offset {
				t.Fatalf("%+v, %v", reading, err)
			}
			cursor = reading.Cursor
			steps = append(steps, brief(reading.Entries)...)
		}
		once, err := read(context.Background(), path, begin.Cursor, letters, b)
		if err != nil {
			t.Fatal(err)
		}
		must, may := oracle("first\n"+content, b)
		must, may = without(must, "0:first"), without(may, "0:first")
		checkBetween(t, "in steps", must, steps, may)
		checkBetween(t, "at once", must, brief(once.Entries), may)
		if once.Cursor != cursor {
			t.Fatalf("cursor %v in steps, %v at once", cursor, once.Cursor)
		}
	})
}

// What is read backward with nothing to stop at is what is read forward, as far as the reach goes.
func TestBackwardIsForwardReversed(t *testing.T) {
	dir := t.TempDir()
	everything := letters
	everything.Enough = func(session.Entry) bool { return false }
	rapid.Check(t, func(t *rapid.T) {
		b := bounds{
			piece: rapid.Int64Range(1, 12).Draw(t, "piece"),
			line:  rapid.Int64Range(4, 16).Draw(t, "line"),
			reach: rapid.Int64Range(1, 120).Draw(t, "reach"),
		}
		content := drawFile(t)
		path := filepath.Join(dir, "session.jsonl")
		os.Remove(path)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		reading, err := read(context.Background(), path, session.Cursor{}, everything, b)
		if err != nil {
			t.Fatal(err)
		}
		must, may := oracle(content, b)
		// Lines whose line ending before them lies below the reach are out of it.
		floor := int64(len(content)) - b.reach
		inReach := func(s string) bool {
			var offset int64
			fmt.Sscanf(s, "%d:", &offset)
			return floor <= 0 || offset-1 >= floor
		}
		checkBetween(t, "backward", filter(must, inReach), brief(reading.Entries), filter(may, inReach))
		want := int64(strings.LastIndexByte(content, '\n') + 1)
		if floor > 0 && want-1 < floor { // a line longer than the reach is being written
			want = int64(len(content))
		}
		if reading.Cursor.Offset != want {
			t.Fatalf("cursor %d, want %d", reading.Cursor.Offset, want)
		}
	})
}

// drawFile draws lines short and long, with both line endings, and perhaps a last one without.
func drawFile(t *rapid.T) string {
	lines := rapid.SliceOfN(rapid.StringMatching(`[R/x\x00 ]{0,30}(\r)?`), 0, 12).Draw(t, "lines")
	content := strings.Join(lines, "\n")
	if rapid.Bool().Draw(t, "ended") {
		content += "\n"
	}
	return content
}

// oracle returns the complete lines of content that must be visited, and those that may be.
func oracle(content string, b bounds) (must, may []string) {
	offset := int64(0)
	for {
		line, rest, found := strings.Cut(content, "\n")
		if !found {
			return must, may
		}
		if text := strings.TrimSuffix(line, "\r"); text != "" {
			s := fmt.Sprintf("%d:%s", offset, text)
			may = append(may, s)
			if int64(len(line)) <= b.line {
				must = append(must, s)
			}
		}
		offset += int64(len(line) + 1)
		content = rest
	}
}

// checkBetween checks that got, in order, holds all of must and nothing that is not in may.
func checkBetween(t *rapid.T, what string, must, got, may []string) {
	t.Helper()
	for _, s := range must {
		if !slices.Contains(got, s) {
			t.Fatalf("%s: %q was missed: %q", what, s, got)
		}
	}
	at := 0
	for _, s := range got {
		i := slices.Index(may[at:], s)
		if i < 0 {
			t.Fatalf("%s: %q is wrong or out of order: %q", what, s, got)
		}
		at += i + 1
	}
}

func filter(in []string, keep func(string) bool) (out []string) {
	for _, s := range in {
		if keep(s) {
			out = append(out, s)
		}
	}
	return out
}

func without(in []string, drop string) []string {
	return filter(in, func(s string) bool { return s != drop })
}
