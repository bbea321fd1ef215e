package rpc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/rpc/rpctest"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// TestTranscripts plays testdata/*.txtar against a server with lifecycle and test methods, and testdata/methods/*.txtar
// against a server with a service and an empty store. Each line of the client is one message; a line that is a Go string
// is sent as its bytes. Each request is answered before the next is sent. A first line "framing: header" in the comment
// chooses that framing. Notifications are left out, since their time varies. At the end the client closes its side. If
// Serve returned an error, it is the last line of the server's section.
func TestTranscripts(t *testing.T) {
	rpctest.Play(t, transcripts(t), func(t *testing.T, file string, archive *txtar.Archive) string {
		options := Options{Configure: refuseUnknownKeys}
		if strings.Contains(file, "methods") {
			options.Service, options.Configure = newConfiguredService(t)
		}
		return play(t, archive, options)
	})
}

func transcripts(t testing.TB) []string {
	return rpctest.Transcripts(t, "testdata/*.txtar", "testdata/methods/*.txtar")
}

func play(t *testing.T, archive *txtar.Archive, options Options) string {
	framing := transport.Line
	if bytes.HasPrefix(archive.Comment, []byte("framing: header\n")) {
		framing = transport.Header
	}
	p := connect(t, framing, options)
	var said strings.Builder
	for line := range strings.Lines(string(rpctest.Section(archive, "client").Data)) {
		line = strings.TrimSuffix(line, "\n")
		if raw, err := strconv.Unquote(line); err == nil {
			p.In.WriteString(raw)
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
	p.In.Close()
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
	if err := p.Wait(p.t); err != nil {
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
