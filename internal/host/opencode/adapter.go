// Package opencode speaks to OpenCode, whose plugin adapters/opencode/ctxls.js hands over what the host calls it with: the
// arguments of a hook as {input, output}, or an event as {event}.
//
// What is known of the host was captured from version 1.18.33, together with what reached the model, or read in its source;
// testdata holds the captures. Its documentation is at https://opencode.ai/docs/plugins.
package opencode

import (
	"context"
	"errors"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Name is what users and clients call the host.
const Name session.Host = "opencode"

// Adapter implements core.Adapter. It is safe for many goroutines.
type Adapter struct {
	children children
}

// New returns an adapter. It remembers which sessions are sub-agents of which, as far as it has decoded events that say so.
func New() *Adapter { return &Adapter{} }

// Host returns Name.
func (*Adapter) Host() session.Host { return Name }

// Rules returns what the domain must know of OpenCode. It compacts at window − min(maximum output, 32,000), or, where a model
// has a limit on input of its own, at that − min(maximum output, 20,000): read in its source, and seen at 190,989 of 200,000
// tokens. What it compares with that includes the answer.
func (*Adapter) Rules() session.Rules {
	return session.Rules{
		CountsOutput:     true,
		SummaryVisible:   true,
		ChildSessions:    true,
		GuideLate:        true,
		Tools:            tools,
		CompactionLeaves: compactionLeaves,
		Compaction:       model.CompactionRule{OutputCap: 32_000, InputOutputCap: 20_000},
	}
}

// compactionLeaves is a summary, of 500 to 2,700 tokens in recorded sessions, and half of the newest messages that OpenCode keeps beside
// it: at most 8,000 tokens, unless its setting compaction.preserve_recent_tokens says otherwise.
const compactionLeaves = 5_000

// Read finds nothing: OpenCode keeps no transcript. What a conversation grows by comes with its events.
func (*Adapter) Read(context.Context, string, session.Cursor) (session.Reading, error) {
	return session.Reading{}, errors.New("OpenCode keeps no transcript")
}
