package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/testuser"
)

// letters is a format for tests: every line is a title, one that begins with R is a report as well, and one that begins
// with / is a path.
var letters = Format{
	Entry: func(line []byte) (session.Entry, bool) {
		s := string(line)
		switch {
		case strings.HasPrefix(s, "R"):
			return session.Entry{Report: &session.Report{MessageID: s}}, true
		case strings.HasPrefix(s, "/"):
			return session.Entry{Paths: []session.PathUse{{Path: s, Use: session.Read}}}, true
		}
		return session.Entry{Title: s}, s != ""
	},
	Enough:  func(e session.Entry) bool { return e.Report != nil },
	History: func(line []byte) bool { return bytes.HasPrefix(line, []byte("/")) },
}

// brief renders entries as offset:content.
func brief(entries []session.Entry) []string {
	var out []string
	for _, e := range entries {
		text := e.Title
		if e.Report != nil {
			text = e.Report.MessageID
		}
		for _, p := range e.Paths {
			text += p.Path
		}
		out = append(out, fmt.Sprintf("%d:%s", e.Offset, text))
	}
	return out
}

func write(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func appendTo(t interface{ Fatal(...any) }, path, more string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(more); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t testing.TB, path string, from session.Cursor) session.Reading {
	t.Helper()
	reading, err := Read(t.Context(), path, from, letters)
	if err != nil {
		t.Fatal(err)
	}
	return reading
}

func wantEntries(t *testing.T, reading session.Reading, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, brief(reading.Entries)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestASessionGrows(t *testing.T) {
	path := write(t, "/a\n/a\nR1\n/b\nR2\nx\n")
	first := mustRead(t, path, session.Cursor{})
	wantEntries(t, first, "3:/a", "9:/b", "12:R2", "15:x") // of the past the paths, each once
	if first.From != 0 || first.Cursor.Offset != 17 || first.Cursor.Inode == 0 || first.Restarted {
		t.Errorf("first sight: %+v", first)
	}

	appendTo(t, path, "R3\nhalf")
	second := mustRead(t, path, first.Cursor)
	wantEntries(t, second, "17:R3")
	if second.From != 17 || second.Cursor.Offset != 20 {
		t.Errorf("a half-written line was consumed: %+v", second)
	}

	appendTo(t, path, " done\r\n")
	third := mustRead(t, path, second.Cursor)
	wantEntries(t, third, "20:half done")

	again := mustRead(t, path, third.Cursor)
	if len(again.Entries) != 0 || again.Cursor != third.Cursor || again.From != third.Cursor.Offset {
		t.Errorf("nothing new, but %+v", again)
	}
}

func TestAFileThatIsNotWhatItWas(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, path string)
		want   []string
	}{
		{"cut", func(t *testing.T, path string) {
			if err := os.Truncate(path, 6); err != nil {
				t.Fatal(err)
			}
		}, []string{"3:R2"}},
		{"replaced", func(t *testing.T, path string) {
			other := write(t, "R7\nR8\nR9\nR10\nR11\nR12\n")
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		}, []string{"17:R12"}},
		{"rewritten in place", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("R5555555555555\nR6\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"15:R6"}},
		{"emptied", func(t *testing.T, path string) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, "R1\nR2\nR3\nR4\n")
			cursor := mustRead(t, path, session.Cursor{}).Cursor
			test.change(t, path)
			reading := mustRead(t, path, cursor)
			if !reading.Restarted {
				t.Error("the change went unnoticed")
			}
			wantEntries(t, reading, test.want...)
			if again := mustRead(t, path, reading.Cursor); again.Restarted || len(again.Entries) > 0 {
				t.Errorf("read again: %+v", again)
			}
		})
	}
}

func TestWhatIsNoRegularFileIsNoData(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Logf("no dangling link: %v", err)
	}
	for _, path := range []string{"", dir, filepath.Join(dir, "missing"), link, os.DevNull, "/dev/zero", "\x00"} {
		for _, from := range []session.Cursor{{}, {Device: 1, Inode: 2, Offset: 3}} {
			reading, err := Read(t.Context(), path, from, letters)
			if err == nil || len(reading.Entries) > 0 || reading.Cursor != from || reading.From != from.Offset {
				t.Errorf("%q from %v: %+v, %v", path, from, reading, err)
			}
		}
	}
}

func TestAFileThatMayNotBeRead(t *testing.T) {
	path := write(t, "R1\n")
	testuser.Forbid(t, path)
	from := session.Cursor{Offset: 7}
	testuser.WithoutPrivilege(t, func() {
		reading, err := Read(t.Context(), path, from, letters)
		if !errors.Is(err, fs.ErrPermission) || len(reading.Entries) > 0 || reading.Cursor != from {
			t.Errorf("got %+v, %v", reading, err)
		}
	})
}

func TestAFileThatGrowsWhileItIsRead(t *testing.T) {
	path := write(t, "a\nb\n")
	cursor := mustRead(t, path, session.Cursor{}).Cursor
	appendTo(t, path, "c\nd\n")
	growing := letters
	growing.Entry = func(line []byte) (session.Entry, bool) {
		appendTo(t, path, "more\n")
		return letters.Entry(line)
	}
	reading, err := Read(t.Context(), path, cursor, growing)
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, reading, "4:c", "6:d")
	wantEntries(t, mustRead(t, path, reading.Cursor), "8:more", "13:more")
}

func TestCancelled(t *testing.T) {
	path := write(t, "R1\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, from := range []session.Cursor{{}, {Offset: 1}} {
		if reading, err := Read(ctx, path, from, letters); err == nil || reading.Cursor != from {
			t.Errorf("got %+v, %v", reading, err)
		}
	}
}

// A line of 60 MB is stepped over in both directions, in bounded memory.
func TestALineLongerThanAnythingIsSteppedOver(t *testing.T) {
	path := write(t, "R1\n")
	cursor := mustRead(t, path, session.Cursor{}).Cursor
	if err := os.Truncate(path, 60<<20); err != nil { // a hole, which reads as zeros
		t.Fatal(err)
	}
	appendTo(t, path, "\nR2\nR3\n")

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wantEntries(t, mustRead(t, path, session.Cursor{}), fmt.Sprintf("%d:R3", 60<<20+4))
	wantEntries(t, mustRead(t, path, cursor), fmt.Sprintf("%d:R3", 60<<20+4)) // too far: from the end instead
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 12<<20 && !testing.Short() { // short is the race detector, which allocates more
		t.Errorf("allocated %d bytes", used)
	}

	near := write(t, "R1\n")
	cursor = mustRead(t, near, session.Cursor{}).Cursor
	if err := os.Truncate(near, 9<<20); err != nil {
		t.Fatal(err)
	}
	appendTo(t, near, "\nR2\n")
	wantEntries(t, mustRead(t, near, cursor), fmt.Sprintf("%d:R2", 9<<20+1))
	wantEntries(t, mustRead(t, near, session.Cursor{}), fmt.Sprintf("%d:R2", 9<<20+1))
}

func TestALineOfAMegabyteIsRead(t *testing.T) {
	long := "/" + strings.Repeat("x", 3<<20)
	path := write(t, "R0\n")
	cursor := mustRead(t, path, session.Cursor{}).Cursor
	appendTo(t, path, long+"\n")
	wantEntries(t, mustRead(t, path, cursor), "3:"+long)
	wantEntries(t, mustRead(t, path, session.Cursor{}), "0:R0", "3:"+long)
}

// A line that is being written and is already longer than the reach has no start to wait at.
func TestAnUnfinishedLineLongerThanTheReach(t *testing.T) {
	path := write(t, "R1\n")
	if err := os.Truncate(path, ReachBytes+100); err != nil {
		t.Fatal(err)
	}
	reading := mustRead(t, path, session.Cursor{})
	wantEntries(t, reading)
	appendTo(t, path, "R0\nR2\n")
	wantEntries(t, mustRead(t, path, reading.Cursor), fmt.Sprintf("%d:R2", ReachBytes+103))
}

// A brief read ends near the end of the file, but not before it has the gauge.
func TestABriefReadIsBounded(t *testing.T) {
	f := letters
	f.Turns, f.Brief = 9, letters.Entry
	long := strings.Repeat(strings.Repeat("x", 1023)+"\n", BriefBytes/1024)
	for name, test := range map[string]struct {
		lines string
		want  string
	}{
		"with the gauge at the end":       {"R1\n" + long + "R2\n", "R2"},
		"with the gauge before the bound": {"R1\n" + long, "R1"},
	} {
		reading, err := Read(t.Context(), write(t, test.lines), session.Cursor{}, f)
		if err != nil {
			t.Fatal(err)
		}
		var reports []string
		for _, e := range reading.Entries {
			if e.Report != nil {
				reports = append(reports, e.Report.MessageID)
			}
		}
		if strings.Join(reports, " ") != test.want {
			t.Errorf("%s: reports %q, want %s", name, reports, test.want)
		}
	}
}
