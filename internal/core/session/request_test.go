package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// perWord counts words.
type perWord struct{}

func (perWord) Count(s string) int { return len(strings.Fields(s)) }

func words(n int) string { return strings.Repeat("w ", n) }

func TestExplain(t *testing.T) {
	record := &RequestRecord{Version: "2.1.329\x1b", System: []string{words(100), words(50)}, Called: map[string]bool{"Read": true, "mcp__tracker__ping": true}, Tools: []RequestTool{
		{"Read", words(30)}, {"mcp__tracker__big_schema", words(300)}, {"Bash", words(20)}, {"mcp__tracker__ping", words(10)}, {"mcp__docs__find", words(40)}, {"mcp__odd", words(5)},
	}}
	e := Estimator{costs: costs{prose: 1}, k: 1}
	b := Breakdown{Parts: []Part{{Category: CategorySystem, Tokens: 1000}, {Category: CategoryUser, Tokens: 7}}}
	b.Explain(record, e, perWord{})
	want := []RequestPart{
		{Kind: RequestSystem, Tokens: 150, Bytes: 300},
		{Kind: RequestTools, Tokens: 55, Bytes: 110, Tools: 3, UnusedTools: 2, UnusedTokens: 25, Unused: []UnusedTool{{"Bash", 20}, {"mcp__odd", 5}}},
		{Kind: RequestServer, Server: "docs", Tokens: 40, Bytes: 80, Tools: 1, UnusedTools: 1, UnusedTokens: 40, Unused: []UnusedTool{{"mcp__docs__find", 40}}},
		{Kind: RequestServer, Server: "tracker", Tokens: 310, Bytes: 620, Tools: 2, UnusedTools: 1, UnusedTokens: 300, Unused: []UnusedTool{{"mcp__tracker__big_schema", 300}}},
	}
	if diff := cmp.Diff(want, b.Request.Parts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if strings.ContainsRune(b.Request.Version, '\x1b') || len(b.Parts) != 2 || b.Parts[0].Tokens != 1000 {
		t.Errorf("%q, %+v", b.Request.Version, b.Parts)
	}

	// The parts never exceed the share that they explain; without a whole record, the called tools are unknown.
	record.Called = nil
	b = Breakdown{Parts: []Part{{Category: CategoryUnknown, Tokens: 111}}}
	b.Explain(record, e, perWord{})
	sum := 0
	for _, p := range b.Request.Parts {
		sum += p.Tokens
		if p.Unused != nil || p.UnusedTools != 0 {
			t.Errorf("%+v", p)
		}
	}
	if sum > 111 || sum < 111-len(b.Request.Parts) {
		t.Errorf("%d tokens of 111", sum)
	}
}
