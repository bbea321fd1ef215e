// Package qwen speaks to Qwen Code: it decodes what its hooks are given on stdin, reads the record that it writes, and forms the
// answers it accepts. Its hooks have the form of Claude Code's, its records the usage of Gemini's API.
//
// What is known of it was captured from version 0.24.4, together with what reached the model, or read in its source where it says
// so; testdata holds the captures.
package qwen

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Name is what users and clients call the host.
const Name session.Host = "qwen-code"

// Adapter implements core.Adapter. It is safe for many goroutines.
type Adapter struct{}

// New returns an adapter.
func New() Adapter { return Adapter{} }

// Host returns Name.
func (Adapter) Host() session.Host { return Name }

// Rules returns what the domain must know of Qwen Code.
//
// It compacts at 85 % of the window, and 33,000 tokens before its end at the latest (its source: computeThresholds). The summary is
// on record before the hook of the session's new start is run. What a hook says at a session's start is not on record, so that a
// resumed session is without it: what the marks mean is told with the first mark.
func (Adapter) Rules() session.Rules {
	return session.Rules{
		BatchEvent:     true,
		SummaryVisible: true,
		GuideLate:      true,
		Tools:          tools,
		Compaction:     model.CompactionRule{Percent: 85, Buffer: 33_000},
	}
}

// Read reads the record at path; see transcript.Read for how much of it.
func (Adapter) Read(ctx context.Context, path string, from session.Cursor) (session.Reading, error) {
	return transcript.Read(ctx, path, from, format(path))
}

// dir returns the directory in which Qwen Code keeps its settings and records.
func dir(getenv func(string) string, home string) string {
	return cmp.Or(getenv("QWEN_HOME"), filepath.Join(home, ".qwen"))
}
