package session

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A call waits only for the result with its own ID.
func TestOpenCalls(t *testing.T) {
	classes := map[string]ToolClass{"Read": ReadTool, "Bash": ShellTool}
	call := func(id, tool string) Piece {
		return Piece{Class: ToolCall, Tool: tool, ToolClass: classes[tool], CallID: id}
	}
	tail := after(call("a", "Read"), call("b", "Bash"), call("c", "mcp__x__y"), Piece{Class: ToolResult, CallID: "b", Tokens: 1})
	if diff := cmp.Diff(map[string]ToolClass{"a": ReadTool}, tail.Open); diff != "" {
		t.Errorf("open calls (-want +got):\n%s", diff)
	}
	for n := range 2 * maxOpenCalls {
		tail = tail.Append([]Piece{call(fmt.Sprint(n), "Read")})
	}
	if len(tail.Open) != maxOpenCalls {
		t.Errorf("%d calls wait", len(tail.Open))
	}
}
