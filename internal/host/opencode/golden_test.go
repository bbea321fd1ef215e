package opencode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// Every call that was captured from the host, and what it is decoded to. A capture names its hook beside the arguments; those of
// the hook "event" are the event itself.
func TestDecodeCapturedPayloads(t *testing.T) {
	var got bytes.Buffer
	for _, file := range hosttest.Glob(t, "testdata/payloads/*.json") {
		name, payload := captured(t, hosttest.ReadFile(t, file))
		ev, err := New().Decode(name, payload)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		fmt.Fprintf(&got, "-- %s --\n%s\n", filepath.Base(file), hosttest.Show(t, ev))
	}
	hosttest.Golden(t, "testdata/payloads.golden", got.Bytes())
}

// captured turns a capture into what the plugin hands over.
func captured(t testing.TB, data []byte) (hook string, payload []byte) {
	t.Helper()
	var capture struct {
		Hook          string
		Input, Output json.RawMessage
	}
	if err := json.Unmarshal(data, &capture); err != nil {
		t.Fatal(err)
	}
	handed := map[string]any{"input": capture.Input, "output": capture.Output, "directory": "/home/dev/project", "pid": 4711}
	if capture.Hook == "event" {
		handed = map[string]any{"event": capture.Input, "directory": "/home/dev/project"}
	}
	payload, err := json.Marshal(handed)
	if err != nil {
		t.Fatal(err)
	}
	return capture.Hook, payload
}

// No call, however odd, does more than fail with a code, and whatever there is to say in return, the plugin is handed what the hook's
// output may grow by.
func FuzzDecode(f *testing.F) {
	for _, file := range hosttest.Glob(f, "testdata/payloads/*.json") {
		name, payload := captured(f, hosttest.ReadFile(f, file))
		f.Add(name, payload, "[context used: 72%]\x1b]0;x\a\u202e\u2028")
	}
	f.Add("event", []byte(`{"event":{"type":"session.created","properties":{"info":{"id":"a","parentID":"a"}}}}`), "")
	f.Add("", []byte(`{}`), "\n")
	f.Fuzz(func(t *testing.T, name string, payload []byte, text string) {
		a := New()
		for range 2 { // the second time it knows the children
			ev, err := a.Decode(name, payload)
			if !hosttest.Decoded(t, Name, ev, err) {
				continue
			}
			if ev.AgentID == ev.SessionID {
				t.Errorf("a session is its own sub-agent: %q", ev.AgentID)
			}
			for _, r := range ev.Reports {
				if r.Tokens <= 0 || r.At.IsZero() {
					t.Errorf("a report of nothing: %+v", r)
				}
			}
			out, err := a.Encode(ev, hosttest.Effects(text))
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > 0 {
				added(t, ev.Name, out)
			}
		}
	})
}

// added makes sure of what a hook's output grows by: the one member that the host allows there.
func added(t *testing.T, hook string, out []byte) {
	t.Helper()
	var add struct {
		Output  *string  `json:"output"`
		Context []string `json:"context"`
		Parts   []Part   `json:"parts"`
	}
	hosttest.Strictly(t, out, &add)
	texts := add.Context
	if add.Output != nil {
		texts = append(texts, *add.Output)
	}
	for _, part := range add.Parts {
		if texts = append(texts, part.Text); part.Type != "text" || !part.Synthetic {
			t.Errorf("%s: a part %+v", hook, part)
		}
	}
	if (hook == toolAfter) != (add.Output != nil) || (hook == compacting) != (add.Context != nil) || (hook == chatMessage) != (add.Parts != nil) {
		t.Errorf("%s: answered %q", hook, out)
	}
	for _, text := range texts {
		hosttest.Said(t, text, session.MaxInjectedChars+len("\n\n"), utf16.RuneLen)
	}
}
