// Package pi speaks to pi, whose extension adapters/pi/ctxls.js runs ctxls at pi's events: it decodes what the extension says, reads
// the record that pi writes, and forms the answers.
//
// What is known of it was captured from version 0.73.1 of @mariozechner/pi-coding-agent, together with what reached the model;
// testdata holds the captures. Its documentation comes with it, in docs.
package pi

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/reply"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Name is what users and clients call the host.
const Name session.Host = "pi"

// Adapter implements core.Adapter. It is safe for many goroutines.
type Adapter struct{}

// New returns an adapter.
func New() Adapter { return Adapter{} }

// Host returns Name.
func (Adapter) Host() session.Host { return Name }

// Rules returns what the domain must know of pi. It counts the answer into what the window holds, and compacts 16,384 tokens before
// the window's end (its docs/compaction.md). The summary is on record.
func (Adapter) Rules() session.Rules {
	return session.Rules{
		CountsOutput:   true,
		SummaryVisible: true,
		GuideLate:      true,
		Tools:          tools,
		Compaction:     model.CompactionRule{Buffer: 16_384},
	}
}

// Read reads the record at path; see transcript.Read for how much of it.
func (Adapter) Read(ctx context.Context, path string, from session.Cursor) (session.Reading, error) {
	return transcript.Read(ctx, path, from, format)
}

// accepts returns the effects that the extension takes in return for an event.
func accepts(event string) []session.EffectKind {
	if event == "before_agent_start" || event == "tool_result" {
		return []session.EffectKind{session.Inject}
	}
	return nil
}

// Encode returns what the hook prints: one JSON object that names its event, or nothing. Control and format characters become
// spaces, and the whole is cut to session.MaxInjectedChars.
func (Adapter) Encode(ev session.Event, effects []session.Effect) ([]byte, error) {
	return reply.Hook(ev, effects, accepts(ev.Name), session.MaxInjectedChars, func(rune) int { return 1 })
}

// dir returns the directory in which pi keeps its settings and records.
func dir(env host.Env) string {
	return cmp.Or(env.Getenv("PI_CODING_AGENT_DIR"), filepath.Join(env.Home, ".pi", "agent"))
}
