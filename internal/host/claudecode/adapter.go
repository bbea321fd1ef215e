// Package claudecode speaks to Claude Code: it decodes what its hooks and its status line are given on stdin, reads the
// transcript it writes, and forms the answers it accepts.
//
// What is known of it was captured from version 2.1.329, together with what reached the model; testdata holds the
// captures. Its documentation is at https://code.claude.com/docs/en/hooks and https://code.claude.com/docs/en/statusline.
package claudecode

import (
	"context"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Adapter implements core.Adapter. It is safe for many goroutines.
type Adapter struct {
	limits model.Limits
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
	return &Adapter{limits: limitsFrom(getenv), pid: pid}
}

// Host returns session.HostClaudeCode.
func (*Adapter) Host() session.Host { return session.HostClaudeCode }

// Rules returns what the domain must know of Claude Code. It compacts at window − min(maximum output, 20,000) − 13,000:
// 167,000 of 200,000 in its own get_context_usage, and "about 967K" of a million in its documentation of models; models
// whose window is a million by nature run full (https://code.claude.com/docs/en/model-config).
func (*Adapter) Rules() session.Rules {
	return session.Rules{
		Provider:       "anthropic",
		BatchEvent:     true,
		SummaryVisible: true,
		Compaction:     model.CompactionRule{OutputCap: 20_000, Buffer: 13_000, NativeAtLimit: true},
	}
}

// Read reads the transcript at path; see transcript.Read for how much of it.
func (*Adapter) Read(ctx context.Context, path string, from session.Cursor) (session.Reading, error) {
	reading, err := transcript.Read(ctx, path, from, format(path))
	reading.Entries = merge(reading.Entries)
	return reading, err
}

// The range of CLAUDE_CODE_AUTO_COMPACT_WINDOW in tokens; the host clamps to it.
const minAutoCompactWindow, maxAutoCompactWindow = 100_000, 1_000_000

// standardWindow is the window, in tokens, of every model once CLAUDE_CODE_DISABLE_1M_CONTEXT forbids the larger one.
const standardWindow = 200_000

// limitsFrom reads the host's settings from the environment (https://code.claude.com/docs/en/env-vars), as the host does:
// of "500k" it sees 500.
func limitsFrom(getenv func(string) string) (l model.Limits) {
	if n := leadingInt(getenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW")); n > 0 {
		l.AutoCompactWindow = min(max(n, minAutoCompactWindow), maxAutoCompactWindow)
	}
	if n := leadingInt(getenv("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")); n >= 1 && n <= 100 {
		l.AutoCompactPercent = n
	}
	switch strings.ToLower(strings.TrimSpace(getenv("CLAUDE_CODE_DISABLE_1M_CONTEXT"))) {
	case "1", "true", "yes", "on":
		l.WindowTokens = standardWindow
	}
	return l
}

// leadingInt returns the number that s begins with, 0 where it begins with none.
func leadingInt(s string) int {
	s = strings.TrimPrefix(strings.TrimSpace(s), "+")
	end := 0
	for end < len(s) && end < 10 && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}
