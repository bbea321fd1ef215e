package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/google/go-cmp/cmp"
)

func TestWorkingContext(t *testing.T) {
	t0 := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var set []PathUse
	for i := range 25 {
		set = append(set, PathUse{Path: fmt.Sprintf("/p/f%02d.go", i), Use: Read, At: t0.Add(time.Duration(i) * time.Second)})
	}
	w := NewWorkingContext(set, "/p", settings.Default().Compaction)
	lines := w.Lines()
	if len(w.Paths) != 20 || w.Paths[0] != "f05.go" || lines[len(lines)-1] != "  ... and 5 more paths" {
		t.Errorf("%d paths from %s, last line %q", len(w.Paths), w.Paths[0], lines[len(lines)-1])
	}
	one := settings.Default().Compaction
	one.MaxPaths = 1
	tie := []PathUse{{Path: "/p/mentioned", Use: Mentioned, At: t0}, {Path: "/p/read", Use: Read, At: t0}, {Path: "/p/edited", Use: Edited, At: t0},
		{Path: "edited", Use: Read, At: t0.Add(-time.Hour)}}
	if diff := cmp.Diff([]string{"ctxls: working context", "Current file paths in context:", "  - edited", "  ... and 2 more paths"}, NewWorkingContext(tie, "/p", one).Lines()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one.MaxPaths = 2
	if got := NewWorkingContext(tie, "/p", one).Lines(); got[len(got)-1] != "  ... and 1 more path" {
		t.Errorf("%q", got)
	}
	if got := NewWorkingContext(nil, "/p", one).Lines(); got != nil {
		t.Errorf("no paths: %q", got)
	}
}

// For any number and length of paths that the settings allow, the text fits every host and contains only whole paths.
func TestAWorkingContextIsNeverCut(t *testing.T) {
	most := settings.CompactionConfig{MaxPaths: 200, MaxPathLength: 4096}
	for _, letter := range []string{"a", "ä", "漢", "😀"} {
		var set []PathUse
		for i := range 300 {
			set = append(set, PathUse{Path: fmt.Sprintf("/%03d/%s", i, strings.Repeat(letter, 1000)), Use: Read, At: time.Unix(int64(i), 0)})
		}
		w := NewWorkingContext(set, "/p", most)
		text := strings.Join(w.Lines(), "\n")
		if len(w.Paths) == 0 || len(w.Paths)+w.Omitted != len(set) || len(text) > MaxInjectedChars || w.Paths[len(w.Paths)-1][:5] != "/299/" {
			t.Errorf("%s: %d paths and %d omitted in %d bytes", letter, len(w.Paths), w.Omitted, len(text))
		}
		if note := lostNote(w.Paths); len(note) > MaxInjectedChars {
			t.Errorf("%s: said again in %d bytes", letter, len(note))
		}
	}
}

func TestShowPath(t *testing.T) {
	for _, tt := range []struct{ path, cwd, want string }{
		{"/home/dev/project/src/main.go", "/home/dev/project", "src/main.go"},
		{"/home/dev/project2/a", "/home/dev/project", "/home/dev/project2/a"},
		{"/home/dev/project", "/home/dev/project", "/home/dev/project"},
		{"/home/dev/project/../x", "/home/dev/project", "/home/dev/x"},
		{"src//a.go", "/p", "src/a.go"},
		{"/etc/hosts", "/", "etc/hosts"},
		{"/etc/hosts", "", "/etc/hosts"},
		{`C:\Users\dev\p\src\a.go`, `C:\Users\dev\p`, "src/a.go"},
		{`c:/users/DEV/p/src/a.go`, `C:\Users\dev\p`, "src/a.go"},
		{`D:\other\a.go`, `C:\Users\dev\p`, "D:/other/a.go"},
		{`\\server\share\p\a.go`, `\\server\share\p`, "a.go"},
		{`\\server\share\a.go`, `C:\p`, "//server/share/a.go"},
		{`//server/share/p/a.go`, `\\SERVER\share\p\`, "a.go"},
		{`/c/Users/dev/p/src/a.go`, `C:\Users\dev\p`, "src/a.go"},
		{`C:\p\src\a.go`, "/mnt/c/p", "src/a.go"}, // an agent in WSL
		{`/usr/bin/env`, `C:\p`, "/usr/bin/env"},
		{`src\a.go`, `C:\p`, "src/a.go"},
		{`C:\a.go`, `C:\`, "a.go"},
		{`/p/odd\name.go`, "/p", `odd\name.go`},
		{"/p/\x1b[31mred\u202e\u200b\nname", "/p", " [31mred   name"},
		{"/p/\xff", "/p", "\uFFFD"},
	} {
		if got := ShowPath(tt.path, tt.cwd, 300); got != tt.want {
			t.Errorf("ShowPath(%q, %q) = %q, want %q", tt.path, tt.cwd, got, tt.want)
		}
	}
	if got := ShowPath("/p/"+strings.Repeat("ä", 10_000), "/p", 300); len([]rune(got)) != 300 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long path: %d characters", len([]rune(got)))
	}
}

func TestPathsInPrompt(t *testing.T) {
	for prompt, want := range map[string][]string{
		"fix @src/main.go and (see `lib/util.ts`), please.": {"src/main.go", "lib/util.ts"},
		"look at @README.md":                    {"README.md"},
		"open /home/dev/notes and ./run/it":     {"/home/dev/notes", "./run/it"},
		`what is C:\p\a.go about?`:              {`C:\p\a.go`},
		"https://example.org/a.html and/or 1/2": nil,
		"mail a@b.org, v1/2.3, e.g. this.":      nil,
		"@alice is /help there":                 nil,
		"":                                      nil,
	} {
		var got []string
		for _, use := range PathsInPrompt(prompt) {
			got = append(got, use.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", prompt, diff)
		}
	}
	if n := len(PathsInPrompt(strings.Repeat("a/b.go ", 100))); n != maxPromptPaths {
		t.Errorf("%d paths from one prompt", n)
	}
}

func TestLostPaths(t *testing.T) {
	shown := []string{"src/a.go", "lib/a.go", "notes.txt", "cmd/main.go", "gone.md", "x.go"}
	summary := "Edited src/a.go; `notes.txt` was read. main.go is done. See mygone.md and x.go.bak."
	if diff := cmp.Diff([]string{"lib/a.go", "gone.md", "x.go"}, lostPaths(shown, summary)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSanitizeAndPercent(t *testing.T) {
	if got := text.Sanitize("a\x00b\u2028c\u2066d\ufeffe\x7f", 0); got != "a b c d e " {
		t.Errorf("%q", got)
	}
	for _, tt := range []struct{ part, whole, want int }{
		{143_912, 200_000, 72}, {0, 200_000, 0}, {999, 200_000, 0}, {1_000, 200_000, 1}, {289_400, 200_000, 100}, {200_000, 200_000, 100}, {1, 0, 0}, {-5, 10, 0}, {199_000, 200_000, 100},
	} {
		if got := text.Percent(tt.part, tt.whole); got != tt.want {
			t.Errorf("Percent(%d, %d) = %d, want %d", tt.part, tt.whole, got, tt.want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1_000: "1,000", 1_234_567: "1,234,567", -4_500: "-4,500"} {
		if got := text.Thousands(n); got != want {
			t.Errorf("groupDigits(%d) = %s", n, got)
		}
	}
}

// On Windows, a session has each file once under any spelling, and a summary with backslashes names it too.
func TestOneFileOnWindows(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var set []PathUse
	for i, p := range []string{`C:\Users\me\p\src\a.go`, `c:/users/ME/p/src/A.go`, `/c/Users/me/p/src/a.go`, `\\?\C:\Users\me\p\src\a.go`, `src\a.go`,
		`D:\lib\b.go`, `d:/Lib/b.go`, `C:\Users\me\p\test\a.go`} {
		set = append(set, PathUse{Path: p, Use: Read, At: at.Add(-time.Duration(i) * time.Second)})
	}
	shown := NewWorkingContext(set, `c:\Users\me\p\`, settings.Default().Compaction).Paths
	if diff := cmp.Diff([]string{"D:/lib/b.go", "src/a.go", "test/a.go"}, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"test/a.go"}, lostPaths(shown, `Read src\a.go and D:\lib\b.go.`)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}
