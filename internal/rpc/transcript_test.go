package rpc

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/rpc/transport"
)

var update = flag.Bool("update", false, "rewrite the server's side of testdata/*.txtar with what it says now")

// TestTranscripts plays testdata/*.txtar against a server with lifecycle and test methods, and testdata/methods/*.txtar
// against a server with a service and an empty store. Each line of the client is one message; a line that is a Go string
// is sent as its bytes. Each request is answered before the next is sent. A first line "framing: header" in the comment
// chooses that framing. Notifications are left out, since their time varies. At the end the client closes its side. If
// Serve returned an error, it is the last line of the server's section.
func TestTranscripts(t *testing.T) {
	for _, file := range transcripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			options := Options{Configure: refuseUnknownKeys}
			if strings.Contains(file, "methods") {
				options.Service, options.Configure = newConfiguredService(t)
			}
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 2 || archive.Files[0].Name != "client" || archive.Files[1].Name != "server" {
				t.Fatalf("%s: want the sections client and server", file)
			}
			got := play(t, archive, options)
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(archive.Files[1].Data), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the server said (-want +got):\n%s", diff)
			}
		})
	}
}

func transcripts(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	more, err := filepath.Glob("testdata/methods/*.txtar")
	if err != nil || len(more) == 0 {
		t.Fatalf("no transcripts of methods: %v", err)
	}
	return append(files, more...)
}

func play(t *testing.T, archive *txtar.Archive, options Options) string {
	framing := transport.Line
	if bytes.HasPrefix(archive.Comment, []byte("framing: header\n")) {
		framing = transport.Header
	}
	p := connect(t, framing, options)
	var said strings.Builder
	for line := range strings.Lines(string(archive.Files[0].Data)) {
		line = strings.TrimSuffix(line, "\n")
		if raw, err := strconv.Unquote(line); err == nil {
			p.in.WriteString(raw)
		} else {
			p.send(line)
		}
		for isOwed(line) {
			text, err := p.receive()
			if err != nil {
				break
			}
			if isPush(text) {
				continue
			}
			said.WriteString(text + "\n")
			if strings.Contains(text, `"id":`) {
				break
			}
		}
	}
	p.in.Close()
	for {
		text, err := p.receive()
		if err != nil {
			break
		}
		if isPush(text) {
			continue
		}
		said.WriteString(text + "\n")
	}
	if err := p.wait(); err != nil {
		said.WriteString("ended: " + err.Error() + "\n")
	}
	return said.String()
}

// isPush reports whether a message is a notification of a change in the store.
func isPush(message string) bool {
	return strings.HasPrefix(message, `{"jsonrpc":"2.0","method":"session/`) || strings.HasPrefix(message, `{"jsonrpc":"2.0","method":"metrics/`)
}

// isOwed reports whether a line of a client needs an answer: every line except notifications and responses.
func isOwed(line string) bool {
	var one map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &one) == nil {
		_, hasMethod := one["method"]
		_, hasID := one["id"]
		_, hasResult := one["result"]
		isResponse := hasResult && !hasMethod
		isNotification := hasMethod && !hasID && !hasResult && string(one["jsonrpc"]) == `"2.0"`
		return !isResponse && !isNotification
	}
	var batch []json.RawMessage
	if json.Unmarshal([]byte(line), &batch) == nil {
		for _, member := range batch {
			if isOwed(string(member)) {
				return true
			}
		}
		return len(batch) == 0
	}
	return true
}

// refuseUnknownKeys is a configuration that knows one key.
func refuseUnknownKeys(config json.RawMessage) error {
	var known struct {
		Levels []int `json:"levels"`
	}
	d := json.NewDecoder(bytes.NewReader(config))
	d.DisallowUnknownFields()
	if err := d.Decode(&known); err != nil {
		return invalid("settings", "levels is the only key, got %s", config)
	}
	return nil
}
