package contextfiles

import (
	"github.com/tailscale/hujson"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Titles are the names of the hosts in sentences.
var Titles = map[session.Host]string{
	session.HostClaudeCode: "Claude Code", session.HostOpenCode: "OpenCode", session.HostCodex: "Codex", session.HostGeminiCLI: "Gemini CLI",
}

// standardJSON returns JSON without the comments and trailing commas that hosts allow in their settings; what is no JSON stays.
func standardJSON(data []byte) []byte {
	if standard, err := hujson.Standardize(data); err == nil {
		return standard
	}
	return data
}
