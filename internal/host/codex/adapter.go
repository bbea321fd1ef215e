// Package codex speaks to Codex: it decodes what its hooks are given on stdin, reads the rollout in which it records a
// conversation, and forms the answers it accepts.
//
// What is known of it was captured from version 0.169.0, together with what reached the model; testdata holds the captures and
// the JSON Schemas that the program carries. Its documentation is at https://developers.openai.com/codex/hooks.
package codex

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Name is what users and clients call the host.
const Name session.Host = "codex"

// Adapter implements core.Adapter. It is safe for many goroutines.
type Adapter struct {
	getenv func(string) string // nil where there is no environment of the host
}

// New returns an adapter. getenv looks up the environment of a hook, which says where Codex keeps its settings. It is nil in a
// server, which Codex did not start.
func New(getenv func(string) string) *Adapter { return &Adapter{getenv} }

// Host returns Name.
func (*Adapter) Host() session.Host { return Name }

// Rules returns what the domain must know of Codex. It states 95 % of a model's window, 258,400 of 272,000, counts the answer
// into what the window holds, and compacts at 90 % of the whole, 244,800. The summary of a compaction is not handed over.
func (*Adapter) Rules() session.Rules {
	return session.Rules{
		Provider:     "openai",
		CountsOutput: true,
		Tools:        tools,
		TurnGrowth:   16_000, // fitted to 183 forecasts in 17 recorded sessions, and better on 15 others, too
		Compaction:   model.CompactionRule{Numerator: 90, Denominator: 95},
	}
}

// Read reads the rollout at path; see transcript.Read for how much of it.
func (*Adapter) Read(ctx context.Context, path string, from session.Cursor) (session.Reading, error) {
	reading, err := transcript.Read(ctx, path, from, format(path))
	reading.Entries = merge(reading.Entries)
	return reading, err
}
