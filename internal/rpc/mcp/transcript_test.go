package mcp

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

var update = flag.Bool("update", false, "rewrite the server's side of testdata/*.txtar with what it says now")

// TestTranscripts plays testdata/*.txtar against a server with an empty store, at /home/me/a. Each line of the client is one
// message; a line that is a Go string is sent as the bytes it stands for, and "repeat N TEXT" is TEXT N times. Each line is
// answered before the next is sent; one that begins with "- " is sent without the mark and answered by nothing. A first line
// "max: N" of the comment bounds the lines. In the end the client closes its side.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 2 || archive.Files[0].Name != "client" || archive.Files[1].Name != "server" {
				t.Fatalf("%s: want the sections client and server", file)
			}
			options := Options{Service: newService(t), Folders: []string{"/home/me/a"}}
			if strings.Contains(file, "panic") {
				options.Service.Store = panicking{options.Service.Store}
			}
			if rest, ok := strings.CutPrefix(string(archive.Comment), "max: "); ok {
				first, _, _ := strings.Cut(rest, "\n")
				if options.MaxLine, err = strconv.Atoi(first); err != nil {
					t.Fatal(err)
				}
			}
			p := connect(t, options)
			var said strings.Builder
			for line := range strings.Lines(string(archive.Files[0].Data)) {
				line, silent := strings.CutPrefix(spelt(t, strings.TrimSuffix(line, "\n")), "- ")
				p.send(line)
				if !silent {
					said.WriteString(p.receive() + "\n")
				}
			}
			p.in.Close()
			p.wantEnd(nil)
			if rest, _ := p.out.ReadString(0); rest != "" {
				t.Errorf("the server went on: %s", rest)
			}
			if *update {
				archive.Files[1].Data = []byte(said.String())
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(archive.Files[1].Data), "\n"), strings.Split(said.String(), "\n")); diff != "" {
				t.Errorf("the server said (-want +got):\n%s", diff)
			}
		})
	}
}

// spelt returns what a line of a transcript stands for.
func spelt(t *testing.T, line string) string {
	if raw, err := strconv.Unquote(line); err == nil {
		return raw
	}
	rest, ok := strings.CutPrefix(line, "repeat ")
	if !ok {
		return line
	}
	count, text, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Repeat(text, n)
}

// panicking is a store with a fault.
type panicking struct{ core.Store }

func (panicking) Windows(ctx context.Context) ([]session.LearnedWindow, error) {
	panic("a fault of the store")
}
