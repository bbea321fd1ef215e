package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The folders of a workspace are those that the client says, in either way of asking, else the working directory.
func TestRoots(t *testing.T) {
	s := newService(t)
	dir := t.TempDir()
	project := filepath.Join(dir, "a project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	reported(t, s, "in the root", project, 1000)
	reported(t, s, "in the working directory", "/home/me/a", 1000)
	uri := "file://" + strings.ReplaceAll(filepath.ToSlash(project), " ", "%20")
	for _, test := range []struct{ what, roots, want string }{
		{"a root", `{"result":{"roots":[{"uri":"` + uri + `","name":"a"}]}}`, "in the root"},
		{"no roots", `{"result":{"roots":[]}}`, "in the working directory"},
		{"others' roots", `{"result":{"roots":[{"uri":"https://example.com"},null,{"uri":7}]}}`, "in the working directory"},
		{"roots of another kind", `{"result":{"roots":[{"uri":"untitled:1"}]}}`, "in the working directory"},
		{"an error", `{"error":{"code":-32601,"message":"no"}}`, "in the working directory"},
		{"silence", ``, "in the working directory"},
	} {
		t.Run(test.what, func(t *testing.T) {
			p := connect(t, Options{Service: s, Folders: []string{"/home/me/a"}})
			p.greet(`{"roots":{"listChanged":true}}`)
			p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inspect_state"}}`)
			var asked struct {
				ID     json.RawMessage
				Method string
			}
			if err := json.Unmarshal([]byte(p.receive()), &asked); err != nil || asked.Method != "roots/list" {
				t.Fatalf("%+v, %v", asked, err)
			}
			if test.roots != "" {
				p.send(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,` + test.roots[1:])
			}
			for a := p.answer(); ; a = p.answer() {
				if a.ID == nil { // it takes back what it asked
					continue
				}
				if got := a.own(t); got != test.want {
					t.Errorf("%q, want %q", got, test.want)
				}
				return
			}
		})
	}
	t.Run("within the answer", func(t *testing.T) { // as from 2026-07-28 on, without a greeting
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
		p := connect(t, Options{Service: s, Folders: []string{"/home/me/a"}})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inspect_state",` + meta + `}}`)
		if line := p.receive(); !strings.Contains(line, `"inputRequests":{"roots":`) {
			t.Fatal(line)
		}
		for roots, want := range map[string]string{`{"roots":[{"uri":"` + uri + `"}]}`: "in the root", `{"action":"decline"}`: "in the working directory"} {
			p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inspect_state","inputResponses":{"roots":` + roots + `},` + meta + `}}`)
			if got := p.answer().own(t); got != want {
				t.Errorf("%s: %q, want %q", roots, got, want)
			}
		}
	})
}
