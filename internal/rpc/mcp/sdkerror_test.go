package mcp

import (
	"fmt"
	"strings"
	"testing"
)

// An error about params names the member and what belongs there, never a type of Go. A line that is too deep is called that.
func TestErrorsNameNoGoTypes(t *testing.T) {
	p := connect(t, Options{Service: newService(t)})
	p.greet("{}")
	for i, params := range []string{`5`, `[]`, `"x"`, `{"name":5}`, `{"name":[]}`, `{"name":"inspect_state","_meta":3}`} {
		for _, method := range []string{"tools/call", "tools/list", "ping", "prompts/get", "resources/read", "logging/setLevel"} {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, i, method, params))
			if says := fmt.Sprint(p.answer().Error); strings.Contains(says, "Go ") || strings.Contains(says, "mcp.") {
				t.Errorf("%s %s: %s", method, params, says)
			}
		}
	}
	p.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}`)
	if says := fmt.Sprint(p.answer().Error); !strings.Contains(says, "tools/call: params.name: expected a string") {
		t.Error(says)
	}
	p.send(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000))
	if says := fmt.Sprint(p.answer().Error); !strings.Contains(says, "the line is nested deeper than 10000 levels") {
		t.Error(says)
	}
}
