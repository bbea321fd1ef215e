package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What this project may not ship, or nobody knows whether it may, is an error that names the module, and so make lint fails.
func TestUnknownLicences(t *testing.T) {
	const mit = "Permission is hereby granted, free of charge, to any person\n  obtaining a copy of this software"
	for name, test := range map[string]struct {
		files map[string]string
		fails string
	}{
		"known":             {files: map[string]string{"LICENSE": mit}},
		"in another file":   {files: map[string]string{"COPYING.txt": mit, "main.go": "package x"}},
		"two, both known":   {files: map[string]string{"LICENSE": mit, "LICENSE-3RD-PARTY.md": "Mozilla Public License Version 2.0"}},
		"copyleft":          {files: map[string]string{"LICENSE": "GNU GENERAL PUBLIC LICENSE Version 3"}, fails: "example.org/m v1.0.0: LICENSE is under no licence that this project ships"},
		"one of two":        {files: map[string]string{"LICENSE": mit, "LICENSE.vendored": "All rights reserved."}, fails: "LICENSE.vendored is under no licence"},
		"empty":             {files: map[string]string{"LICENSE": ""}, fails: "LICENSE is under no licence"},
		"none":              {files: map[string]string{"README.md": mit}, fails: "example.org/m v1.0.0: no licence"},
		"a directory of it": {files: map[string]string{"LICENSE/MIT.txt": mit}, fails: "no licence"},
	} {
		dir := t.TempDir()
		for file, text := range test.files {
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		found, err := module{"example.org/m", "v1.0.0", dir}.licences()
		if (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails) || err == nil && len(found) == 0 {
			t.Errorf("%s: %v, %v, want an error with %q", name, found, err, test.fails)
		}
	}
}
