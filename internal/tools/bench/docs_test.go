package main

import (
	"os"
	"strings"
	"testing"
)

// The table in the documents has every row, with the bar that is in force.
func TestDocumentedTable(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for line := range strings.Lines(string(doc)) {
		if what, rest, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			table[what] = rest
		}
	}
	for _, r := range rows {
		if rest, there := table[r.what]; !there || !strings.Contains(rest, r.bar()) {
			t.Errorf("docs/performance.md: want a row %q with the bar %q, got %q", r.what, r.bar(), rest)
		}
	}
}
