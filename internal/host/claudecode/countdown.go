package claudecode

import (
	"cmp"
	"strings"

	"github.com/ctxls/ctxls/internal/check"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// The countdown of Claude Code, as the requests of version 2.1.329 show it: most models read "15000000 tokens left" with each prompt,
// whatever their window. Beside a mark of ctxls that is a second figure for the same thing.
const (
	countdownText = `Claude Code tells most models "N tokens left" of 15,000,000, whatever the window`
	countdownHint = `"totalTokensReminder": "countdown" or "off"`
)

// ownCount says to the model what the countdown is.
const ownCount = `A number of "tokens left" beside the marks is Claude Code's own: it counts down from 15,000,000 and does not follow the window.`

// countdownMode returns the mode of the countdown that the user chose; "" is the host's default.
func (f settingsFiles) countdownMode(env host.Env) string {
	return cmp.Or(f.variable(env, "CLAUDE_CODE_TOTAL_TOKENS_REMINDER"), transcript.String(f.first("totalTokensReminder")))
}

// quietCountdown reports whether a mode of the countdown, as JSON or as a bare word, agrees with the window or shows nothing.
func quietCountdown(mode string) bool {
	switch strings.Trim(mode, `"`) {
	case "countdown", "off":
		return true
	}
	return false
}

// Check implements host.Checker: whether the host tells its models a figure of its own beside the marks.
func (Installer) Check(env host.Env, places []host.Place) []check.Check {
	installed := false
	for _, p := range places {
		installed = installed || len(p.Own) > 0
	}
	if !installed {
		return nil
	}
	mode := newSettingsFiles(env).countdownMode(env)
	if quietCountdown(mode) {
		return []check.Check{{Name: "countdown", Status: check.OK, What: "totalTokensReminder is " + text.Sanitize(mode, 20) + ", which agrees with the marks"}}
	}
	return []check.Check{{Name: "countdown", Status: check.Skip, What: countdownText, Hint: "set " + countdownHint + " in Claude Code's settings.json"}}
}
