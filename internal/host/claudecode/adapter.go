// Package claudecode speaks to Claude Code: it decodes what its hooks and its status line are given on stdin, reads the
// transcript it writes, and forms the answers it accepts.
//
// What is known of it was captured from version 2.1.329, together with what reached the model; testdata holds the
// captures. Its documentation is at https://code.claude.com/docs/en/hooks and https://code.claude.com/docs/en/statusline.
package claudecode

import (
	"context"
	"strconv"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Name is what users and clients call the host.
const Name session.Host = "claude-code"

// Adapter implements core.Adapter. It is safe for many goroutines.
type Adapter struct {
	getenv func(string) string // nil where there is no environment of the host
	pid    int
}

// New returns an adapter. getenv looks up the environment of a hook, which contains settings of Claude Code. It is nil in a server,
// which Claude Code did not start.
func New(getenv func(string) string) *Adapter {
	if getenv == nil {
		return &Adapter{}
	}
	pid, err := strconv.Atoi(getenv("CLAUDE_PID"))
	if err != nil || pid < 0 {
		pid = 0
	}
	return &Adapter{getenv: getenv, pid: pid}
}

// Host returns Name.
func (*Adapter) Host() session.Host { return Name }

// Rules returns what the domain must know of Claude Code. It compacts at window − min(maximum output, 20,000) − 13,000: bisected
// with version 2.1.329 at 167,000 of 200,000 and 967,000 of a million. Versions up to 2.1.20 did at 155,000 (36 of 36 real
// compactions). Models of the 4.5 generation, and long windows by option, wait until a request is refused: not yet in 2.1.42, and
// by its documentation in 2.1.220. Where compaction is turned off it refuses a prompt 3,000 before the reserve.
//
// Transcripts leave the "[1m]" of a model out, so that what one session proves holds for others only where it was spelled.
func (*Adapter) Rules() session.Rules {
	return session.Rules{
		Provider:            "anthropic",
		BatchEvent:          true,
		SummaryVisible:      true,
		SummarizesAhead:     true,
		CompactsAfterPrompt: true,
		OwnCount:            ownCount,
		SuffixHidden:        true,
		Tools:               tools,
		Compaction: model.CompactionRule{OutputCap: 20_000, Buffer: 13_000, RefusalBuffer: 3_000, OnRefusalSince: "2.1.220",
			Older: []model.OlderBuffer{{UpTo: "2.1.20", Buffer: 25_000}}},
	}
}

// Read reads the transcript at path; see transcript.Read for how much of it.
func (*Adapter) Read(ctx context.Context, path string, from session.Cursor) (session.Reading, error) {
	reading, err := transcript.Read(ctx, path, from, format(path))
	reading.Entries = merge(reading.Entries)
	return reading, err
}
