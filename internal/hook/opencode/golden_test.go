package opencode

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Every call that was captured from the host, and what it is decoded to. A capture names its hook beside the arguments; those of
// the hook "event" are the event itself.
func TestDecodeCapturedPayloads(t *testing.T) {
	files, err := filepath.Glob("testdata/payloads/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no payloads", err)
	}
	var got bytes.Buffer
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, payload := captured(t, data)
		ev, err := New().Decode(name, payload)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		shown, err := json.MarshalIndent(prune(ev), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "-- %s --\n%s\n", filepath.Base(file), shown)
	}
	const golden = "testdata/payloads.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", golden, diff)
	}
}

// captured turns a capture into what the plugin hands over.
func captured(t *testing.T, data []byte) (hook string, payload []byte) {
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

// prune returns an event as a tree without its zero members.
func prune(ev core.Event) any {
	data, err := json.Marshal(ev)
	if err != nil {
		panic(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		panic(err)
	}
	return pruned(tree)
}

func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			switch member = pruned(member); member {
			case nil, "", 0.0, false, "0001-01-01T00:00:00Z":
				delete(v, key)
			default:
				v[key] = member
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

// Whatever a host may hand over, decoding ends, and what it makes of it is an event or an error that says where.
func FuzzDecode(f *testing.F) {
	files, _ := filepath.Glob("testdata/payloads/*.json")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var capture struct{ Hook string }
		_ = json.Unmarshal(data, &capture)
		f.Add(capture.Hook, data)
	}
	f.Add("event", []byte(`{"event":{"type":"session.created","properties":{"info":{"id":"a","parentID":"a"}}}}`))
	f.Add("", []byte(`{}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		a := New()
		for range 2 { // the second time it knows the children
			ev, err := a.Decode(name, data)
			if err != nil {
				if core.CodeOf(err) != core.CodeInvalid {
					t.Errorf("an error with the code %q: %v", core.CodeOf(err), err)
				}
				continue
			}
			switch {
			case ev.Host != core.HostOpenCode || ev.SessionID == "" || ev.Name == "" || ev.Kind == "":
				t.Errorf("an event without a host, a session, a name or a kind: %+v", ev)
			case ev.AgentID == ev.SessionID:
				t.Errorf("a session is its own sub-agent: %q", ev.AgentID)
			}
			for _, use := range ev.Paths {
				if use.Path == "" || use.Use == 0 {
					t.Errorf("a use of nothing: %+v", use)
				}
			}
			for _, r := range ev.Reports {
				if r.Tokens <= 0 || r.At.IsZero() || r.Tuple.Output < 0 {
					t.Errorf("a report of nothing: %+v", r)
				}
			}
			out, err := a.Encode(ev, []core.Effect{{Kind: core.Inject, Text: name}, {Kind: core.CompactionContext, Lines: strings.Split(string(data[:min(len(data), 99)]), "\n")}})
			if err != nil || len(out) > 0 && !json.Valid(out) {
				t.Errorf("answered %q, %v", out, err)
			}
		}
	})
}
