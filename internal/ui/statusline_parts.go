package ui

import (
	"fmt"
	"time"

	"github.com/ctxls/ctxls/internal/core"
)

// PromptCache is what a host states of the provider's prompt cache. The zero value is unknown.
type PromptCache struct {
	ExpiresAt  time.Time // when it goes cold unless it is used; the past where it is cold
	Lifetime   time.Duration
	ColdTokens int // what the next request writes to the cache if it is cold
}

// cacheWorthPercent is the share of the window from which on a cold start is shown. Smaller ones cost little.
const cacheWorthPercent = 10

// cacheText says that the prompt cache is cold, or goes cold within a fifth of its lifetime: one minute of five, twelve of an hour.
// It is empty at other times, and where a cold start costs little.
func cacheText(c PromptCache, window int, now time.Time) string {
	left := c.ExpiresAt.Sub(now)
	switch {
	case c.ExpiresAt.IsZero() || c.ColdTokens*100 < cacheWorthPercent*window || left > c.Lifetime/5:
		return ""
	case left <= 0:
		return "cache cold: " + tokens(c.ColdTokens) + " to write"
	case left < time.Minute:
		return fmt.Sprintf("cache cold in %ds: %s", (left+time.Second-1)/time.Second, tokens(c.ColdTokens))
	}
	return fmt.Sprintf("cache cold in %dm: %s", left/time.Minute, tokens(c.ColdTokens))
}

// agentRow is the row of a sub-agent.
const agentRow = "{agent} · {bar} {percent} · {tokens}/{window} · {left} · {model}"

// maxAgentLabel bounds what a sub-agent is called, in characters.
const maxAgentLabel = 60

// AgentRow writes one line about a sub-agent, by the rules of Statusline. label is what its host calls it.
func AgentRow(label, model string, u core.Usage, o StatuslineOptions) string {
	values := usageValues(u, model)
	values["agent"] = safe(label, maxAgentLabel)
	return line(agentRow, values, u.Level, o)
}
