// Package gemini speaks to Gemini CLI: it decodes what its hooks are given on stdin, reads the transcript it writes, and forms
// the answers it accepts.
//
// What is known of it was captured from version 0.61.0, together with what reached the model, or read in its source where
// it says so; testdata holds the captures. Its documentation comes with it, in bundle/docs/hooks.
package gemini

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Name is what users and clients call the host.
const Name session.Host = "gemini-cli"

// Adapter implements core.Adapter. It is safe for many goroutines.
type Adapter struct {
	getenv func(string) string // nil where there is no environment of the host
}

// New returns an adapter. getenv looks up the environment of a hook, which says where Gemini CLI keeps its settings. It is nil in a
// server, which Gemini CLI did not start.
func New(getenv func(string) string) Adapter { return Adapter{getenv} }

// Host returns Name.
func (Adapter) Host() session.Host { return Name }

// Rules returns what the domain must know of Gemini CLI.
//
// It compacts at half of the window, unless its setting model.compressionThreshold says otherwise (its source:
// DEFAULT_COMPRESSION_TOKEN_THRESHOLD), and does not report it: PreCompress comes before every request. It keeps the newest 30 %
// of the conversation and a summary, so that at least half is gone; what it blanks out of old tool results without a
// compaction was seen to be a third. Hooks of tools do not say which agent the tool ran for.
//
// At a session's start nothing is said: the text would be put before the person's prompt, and a prompt that begins like that is
// left out when the session is resumed.
func (Adapter) Rules() session.Rules {
	return session.Rules{
		Provider:     "google",
		Compaction:   model.CompactionRule{Numerator: 1, Denominator: 2},
		Fall:         session.FallRule{Percent: 40, Tokens: 10_000},
		Tools:        tools,
		ToolsUnnamed: true,
		GuideLate:    true,
	}
}

// Read reads the transcript at path; see transcript.Read for how much of it.
func (Adapter) Read(ctx context.Context, path string, from session.Cursor) (session.Reading, error) {
	return transcript.Read(ctx, path, from, format)
}
