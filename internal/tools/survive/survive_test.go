package main

import (
	"strings"
	"testing"
)

// The captured transcripts have compactions; the tables count them, and the JSON form holds the same figures.
func TestTablesOfCapturedRecords(t *testing.T) {
	var out, asJSON strings.Builder
	if err := run(t.Context(), "../../host/claudecode/testdata/transcripts", false, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"compactions (", "path, all", "summary visible", "WORDS OF THE USER", "of windows before", "READS IN THE NEXT 20"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), " 0 compactions") {
		t.Errorf("no compaction was met:\n%s", out.String())
	}
	if err := run(t.Context(), "../../host/claudecode/testdata/transcripts", true, &asJSON); err != nil || !strings.Contains(asJSON.String(), `"Compactions"`) {
		t.Errorf("%v:\n%s", err, asJSON.String())
	}
	if err := run(t.Context(), t.TempDir(), false, &out); err == nil || !strings.Contains(err.Error(), "no record") {
		t.Errorf("of an empty directory: %v", err)
	}
}
