package ui

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// maxPicture is how large a picture of the README may be, in bytes.
const maxPicture = 200_000

// The README's pictures of terminals are what the tests above look at, drawn by internal/tools/picture.
func TestPictures(t *testing.T) {
	for name, draw := range map[string]func(Style) string{
		"sessions.svg": func(l Style) string {
			var b strings.Builder
			_ = Sessions(&b, stage()[:5], noon, Style{Width: 116, Color: l.Color})
			return "$ ctxls sessions\n" + b.String()
		},
		"breakdown.svg": func(l Style) string { return "$ ctxls breakdown\n" + breakdownText(filled(), noon, l) },
	} {
		cmd := exec.Command("go", "run", "../tools/picture")
		cmd.Stdin = strings.NewReader(draw(Style{Width: 80, Color: true}))
		got, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > maxPicture || !bytes.Contains(got, []byte(`fill="#e3b341"`)) {
			t.Errorf("%s has %d bytes, or no colours", name, len(got))
		}
		file := filepath.Join("../../docs/images", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s differs from the drawing (-update renews it):\n%s", file, diff)
		}
	}
}
