package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core/token"
)

// The count of a text does not depend on its pieces, and progress reports all of it.
func TestPiecesAddUp(t *testing.T) {
	var source []byte
	files, _ := filepath.Glob("*.go")
	for _, f := range append(files, filepath.Join("testdata", "script", "measure.txt")) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, data...)
	}
	word := rapid.SampledFrom([]string{"\n", "\r\n", " ", "\t", "a", "The", "don't", "'S", "x\u0301", "\u0301", "é", "漢", "12345", "{", "//", "/", "…", "\u2028", "\xff", "\u00a0"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(word).Draw(t, "words"), "")
		if rapid.Bool().Draw(t, "source") {
			from := rapid.IntRange(0, len(source)).Draw(t, "from")
			text = string(source[from:min(len(source), from+2000)])
		}
		enc, err := token.Get(rapid.SampledFrom([]string{token.Cl100k, token.O200k}).Draw(t, "encoding"))
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		c := progressCounter{enc, rapid.IntRange(1, 50).Draw(t, "size"), func(n int) { told += n }}
		if got, want := c.Count(text), enc.Count(text); got != want || told != len(text) {
			t.Fatalf("%d tokens in pieces, %d as a whole; told of %d bytes of %d", got, want, told, len(text))
		}
	})
}

// A command that waits for standard input can be interrupted.
func TestInterrupted(t *testing.T) {
	for name, setup := range map[string]command{"measure": measureCommand, "trim": trimCommand, "plan": planCommand} {
		var stdout, stderr bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		a := newApp(silence(cancel), &stdout, &stderr)
		a.home, a.environ, a.statePath = t.TempDir(), nil, filepath.Join(t.TempDir(), "state.db")
		err := setup.setup(pflag.NewFlagSet(name, pflag.ContinueOnError))(ctx, a, []string{"-"})
		if err == nil || err.Error() != "interrupted" || stdout.Len() > 0 {
			t.Errorf("%s: %v, printed %q", name, err, stdout.String())
		}
		a.close()
	}
}

// silence is an input that never arrives. It calls the function when a program begins to read.
type silence func()

func (s silence) Read([]byte) (int, error) {
	s()
	select {}
}
