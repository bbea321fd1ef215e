package opencode

import (
	"testing"

	"github.com/ctxls/ctxls/adapters/adaptertest"
)

// The plugin is tested where it runs, in JavaScript and against the real ctxls.
func TestPlugin(t *testing.T) {
	adaptertest.Run(t, "a conversation: the mark with the prompt")
}

// OpenCode takes every exported function for a plugin, and install fills in one line.
func TestSource(t *testing.T) {
	adaptertest.Occurrences(t, Plugin, map[string]int{
		"\nexport ": 1, "\nconst INSTALLED = \"\" // ": 1, "// ctxls plugin for OpenCode.": 1, "import ": 3,
	})
}
