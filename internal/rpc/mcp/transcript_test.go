package mcp

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/rpc/rpctest"
)

// TestTranscripts plays testdata/*.txtar against a server with an empty store, at /home/me/a. Each line of the client is one
// message; a line that is a Go string is sent as the bytes it stands for, and "repeat N TEXT" is TEXT N times. Each line is
// answered before the next is sent; one that begins with "- " is sent without the mark and answered by nothing. A first line
// "max: N" of the comment bounds the lines. In the end the client closes its side.
func TestTranscripts(t *testing.T) {
	rpctest.Play(t, rpctest.Transcripts(t, "testdata/*.txtar"), func(t *testing.T, file string, archive *txtar.Archive) string {
		options := Options{Service: newService(t), Folders: []string{"/home/me/a"}}
		if strings.Contains(file, "panic") {
			options.Service.Store = panicking{options.Service.Store}
		}
		if rest, ok := strings.CutPrefix(string(archive.Comment), "max: "); ok {
			first, _, _ := strings.Cut(rest, "\n")
			var err error
			if options.MaxLine, err = strconv.Atoi(first); err != nil {
				t.Fatal(err)
			}
		}
		p := connect(t, options)
		var said strings.Builder
		for line := range strings.Lines(string(rpctest.Section(archive, "client").Data)) {
			line, silent := strings.CutPrefix(spelt(t, strings.TrimSuffix(line, "\n")), "- ")
			p.send(line)
			if !silent {
				said.WriteString(p.receive() + "\n")
			}
		}
		p.In.Close()
		p.wantEnd(nil)
		if rest, _ := p.Out.ReadString(0); rest != "" {
			t.Errorf("the server went on: %s", rest)
		}
		return said.String()
	})
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
