package mcp

import (
	"encoding/json"
	"testing"
)

// 2.0 and 2e1 are whole numbers to JSON Schema, so models may write them.
func TestWholeNumbers(t *testing.T) {
	for raw, want := range map[string]int{`2`: 2, `2.0`: 2, `2.000`: 2, `2.5`: -1, `2.`: -1, `"2.0"`: -1, `2.0e1`: 20, `.0`: -1} {
		got := -1
		err := decode(json.RawMessage(`{"limit":`+raw+`}`), inspectArguments(&got))
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %d, %v", raw, got, err)
		}
	}
}
