package pi

import (
	"testing"

	"github.com/ctxls/ctxls/adapters/adaptertest"
)

// The extension is tested where it runs, in JavaScript and against the real ctxls.
func TestExtension(t *testing.T) {
	adaptertest.Run(t, "a conversation: usage, the mark, a compaction")
}

// pi takes the default export, and install fills in one line.
func TestSource(t *testing.T) {
	adaptertest.Occurrences(t, Extension, map[string]int{
		"\nexport default function ": 1, "\nconst INSTALLED = \"\" // ": 1, "// ctxls extension for pi.": 1, "import ": 3,
	})
}
