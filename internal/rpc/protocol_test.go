package rpc

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/rpc/transport"
)

const protocolFile = "../../docs/protocol.md"

// TestProtocolExamples runs every example of docs/protocol.md, one after the other, against one server. A notification
// arrives at its own time, so an example of it must match one of those since the last.
func TestProtocolExamples(t *testing.T) {
	service, configure := newConfiguredService(t)
	options := languageOptions(rooted{Dir: t.TempDir()})
	options.Service, options.Configure = service, configure
	p := connect(t, transport.Line, options)
	var pushed []string
	for _, m := range exampleMessages(readProtocol(t)) {
		if m.sent {
			p.send(m.text)
			continue
		}
		wantsPush := isPush(strings.NewReplacer(": \"", ":\"", ", \"", ",\"").Replace(m.text))
		for {
			var said string
			if wantsPush && len(pushed) > 0 {
				said, pushed = pushed[0], pushed[1:]
			} else {
				var err error
				if said, err = p.receive(); err != nil {
					t.Fatalf("waiting for %s: %v", m.text, err)
				}
				if !wantsPush && isPush(said) {
					pushed = append(pushed, said)
					continue
				}
			}
			where := differsFrom(t, m.text, said)
			if where != "" && wantsPush {
				continue
			}
			if where != "" {
				t.Errorf("the example says\n%s\nthe server says\n%s\nthey differ at %s", m.text, said, where)
			}
			break
		}
	}
	p.wantEnd(nil)
}

// exampleMessage is a message of an example, on one line.
type exampleMessage struct {
	sent bool // to the server
	text string
}

func exampleMessages(text string) []exampleMessage {
	var all []exampleMessage
	for _, block := range regexp.MustCompile("(?s)```jsonrpc\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		for line := range strings.SplitSeq(block[1], "\n") {
			if sent, ok := strings.CutPrefix(line, "→ "); ok {
				all = append(all, exampleMessage{true, sent})
			} else if received, ok := strings.CutPrefix(line, "← "); ok {
				all = append(all, exampleMessage{false, received})
			} else {
				all[len(all)-1].text += " " + strings.TrimSpace(line)
			}
		}
	}
	return all
}

// differsFrom is differs for the text of an example and of a message.
func differsFrom(t *testing.T, example, message string) string {
	t.Helper()
	var want, got any
	if err := json.Unmarshal([]byte(example), &want); err != nil {
		t.Fatalf("%s: %v", example, err)
	}
	if err := json.Unmarshal([]byte(message), &got); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	return differs(want, got)
}

// differs returns the position where got differs from the example, or "". "…" stands for any value, and as a member for
// any further members.
func differs(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf(": %v", got)
		}
		for name, value := range want {
			if name == "…" {
				continue
			}
			if _, ok := object[name]; !ok {
				return "." + name + ": missing"
			}
			if where := differs(value, object[name]); where != "" {
				return "." + name + where
			}
		}
		if _, open := want["…"]; !open && len(want) != len(object) {
			return fmt.Sprintf(": %d members, the server has %v", len(want), slices.Sorted(maps.Keys(object)))
		}
		return ""
	case []any:
		array, ok := got.([]any)
		if !ok || len(array) != len(want) {
			return fmt.Sprintf(": %v", got)
		}
		for i := range want {
			if where := differs(want[i], array[i]); where != "" {
				return fmt.Sprintf("[%d]%s", i, where)
			}
		}
		return ""
	}
	if want == "…" || want == got {
		return ""
	}
	return fmt.Sprintf(": %v", got)
}

// TestProtocolIsComplete checks that docs/protocol.md has every method, with an example for each request, every member
// of params and results, every error and every notification.
func TestProtocolIsComplete(t *testing.T) {
	text := readProtocol(t)
	s := schemas{source: source{}, defs: object{}}
	for name, m := range methods {
		_, section, found := strings.Cut(text, "### "+name+"\n")
		if m.mode == atOnce {
			if !strings.Contains(text, "`"+name+"`") && !found {
				t.Errorf("%s is not described", name)
			}
			continue
		}
		if !found {
			t.Errorf("%s has no section", name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		if !strings.Contains(section, `"method": "`+name+`"`) {
			t.Errorf("%s has no example", name)
		}
		for _, schema := range []object{s.params(m.params), s.of(m.result)} {
			for _, member := range slices.Sorted(maps.Keys(s.membersOf(schema))) {
				if !strings.Contains(section, "`"+member+"`") && !strings.Contains(section, `"`+member+`"`) && !isShared(text, member) {
					t.Errorf("%s says nothing of %s", name, member)
				}
			}
		}
	}
	for code, number := range transport.Numbers {
		if row := fmt.Sprintf("| `%s` | %d |", code, number); !strings.Contains(text, row) {
			t.Errorf("no row %q", row)
		}
	}
	for name, params := range notifications {
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(name) + "` \\|.*$").FindString(text)
		for member := range s.membersOf(s.of(params)) {
			if !strings.Contains(row, "`"+member+"`") {
				t.Errorf("%s: the row %q says nothing of %s", name, row, member)
			}
		}
	}
}

// isShared reports whether a member is described for a group of methods, before their first section.
func isShared(text, member string) bool {
	for group := range strings.SplitSeq(text, "\n## ") {
		if head, _, _ := strings.Cut(group, "\n### "); strings.Contains(head, "`"+member+"`") {
			return true
		}
	}
	return false
}

// membersOf returns the members of an object's schema.
func (s schemas) membersOf(schema object) object {
	if ref, ok := schema["$ref"].(string); ok {
		schema = s.defs[strings.TrimPrefix(ref, "#/$defs/")].(object)
	}
	members, _ := schema["properties"].(object)
	return members
}

func readProtocol(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(protocolFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
