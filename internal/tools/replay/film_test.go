package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// maxFilm is how large the README's first picture may be, in bytes.
const maxFilm = 200_000

// The README's first picture is what is drawn of the recording today, wherever that is played.
func TestFilm(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of the recording are not absolute on Windows")
	}
	var b bytes.Buffer
	if err := project(context.Background(), options{bin: bin, width: 80}, &b); err != nil {
		t.Fatal(err)
	}
	const file = "../../../docs/images/together.svg"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b.Bytes()) {
		t.Errorf("%s differs from the drawing; run the test with -update to renew it", file)
	}
	drawn := b.String()
	if len(drawn) > maxFilm || strings.Contains(drawn, "<script") || strings.Contains(drawn, "href") {
		t.Errorf("%d bytes, want at most %d, without scripts and links", len(drawn), maxFilm)
	}
	for decoder := xml.NewDecoder(&b); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// The story in its order: growth, a level that changes, a compaction, the drop.
	rest := drawn
	for _, want := range []string{`>∿ 20% · ~1`, `>∿ 68% · ~`, `>⚠ 70% · ~`, `>▲ 84% · ~0 to compaction`, `>↻ `, `>∿ 19% · ~129k to compaction`, `>∿ 27% · ~`} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("no %s after what comes before it", want)
			continue
		}
		rest = after
	}
	// Columns hold in every viewer: a text begins with no space, and its length is given.
	for _, m := range regexp.MustCompile(`<text[^>]*>[^<]*`).FindAllString(drawn, -1) {
		if text := m[strings.Index(m, ">")+1:]; strings.HasPrefix(text, " ") || !strings.Contains(m, "textLength=") && !strings.Contains(m, " big") {
			t.Errorf("columns are not kept: %s", m)
		}
	}
	// Nothing moves for a reader who asked for reduced motion.
	before, _, _ := strings.Cut(drawn, "@media (prefers-reduced-motion:no-preference)")
	if before == drawn || strings.Contains(before, "animation") {
		t.Error("something moves whatever the reader prefers")
	}
}
