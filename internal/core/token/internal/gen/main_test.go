package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The files in the repository are what gen writes, byte for byte.
func TestNoDrift(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what gen writes (%d bytes, gen writes %d): run go generate in internal/core/token", name, len(got), len(want))
		}
	}
}
