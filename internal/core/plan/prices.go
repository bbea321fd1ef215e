package plan

import (
	"cmp"
	"strings"
)

// Prices are what a provider charges for input tokens, as multiples of the price of plain input.
type Prices struct {
	CacheRead  float64 `json:"cacheRead"`        // of tokens that the cache holds; 0 or above, and below CacheWrite
	CacheWrite float64 `json:"cacheWrite"`       // of tokens that are written to the cache
	TTLSeconds int     `json:"ttlSeconds"`       // how long the cache keeps them after their last use
	Source     string  `json:"source,omitempty"` // what says so
	AsOf       string  `json:"asOf,omitempty"`   // the day as of which Source was read, as 2006-01-02
}

const (
	claudeSource = "platform.claude.com/docs/en/about-claude/pricing"
	openAISource = "developers.openai.com/api/docs/guides/prompt-caching"
	googleSource = "docs.cloud.google.com, Context caching overview"
	readOn       = "2026-11-22"
)

// priceTable says what models cost, by the beginning of their name. The first row that fits counts.
var priceTable = []struct {
	model string
	Prices
}{
	{"claude-fable-5-1", Prices{0.025, 1.25, 300, claudeSource, readOn}},
	{"claude-mythos-5-1", Prices{0.025, 1.25, 300, claudeSource, readOn}},
	{"claude-opus-5-5", Prices{0.05, 1.25, 300, claudeSource, readOn}},
	{"claude-sonnet-5-5", Prices{0.05, 1.25, 300, claudeSource, readOn}},
	{"claude-", Prices{0.1, 1.25, 300, claudeSource, readOn}},
	{"gpt-4o", Prices{0.5, 1, 300, openAISource, readOn}},
	{"gpt-4.1", Prices{0.25, 1, 300, openAISource, readOn}},
	{"gpt-5.6", Prices{0.1, 1.25, 1800, openAISource, readOn}},
	{"gpt-5", Prices{0.1, 1, 300, openAISource, readOn}},
	{"gpt-", Prices{0.1, 1.25, 1800, openAISource, readOn}}, // later families
	{"o1", Prices{0.5, 1, 300, openAISource, readOn}},
	{"o3", Prices{0.25, 1, 300, openAISource, readOn}},
	{"o4", Prices{0.25, 1, 300, openAISource, readOn}},
	{"gemini-", Prices{0.1, 1, 300, googleSource, readOn}},
}

// ofProvider stands in where the model's name says nothing.
var ofProvider = map[string]string{"anthropic": "claude-", "openai": "gpt-", "google": "gemini-"}

// hourTTL is how long Anthropic's longer cache lives, in seconds, and hourWrite what is charged for writing to it.
const hourTTL, hourWrite = 3600, 2

// PricesOf returns the prices of a model. One that is not known is priced as Anthropic's most models are: with them a cut has
// to free the most before it pays.
func PricesOf(provider, model string) Prices {
	model = strings.ToLower(model)
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		model = model[i+1:]
	}
	if i := strings.Index(model, "claude-"); i > 0 { // Bedrock's spelling
		model = model[i:]
	}
	for _, name := range []string{model, ofProvider[strings.ToLower(provider)], "claude-"} {
		for _, row := range priceTable {
			if strings.HasPrefix(name, row.model) {
				return row.Prices
			}
		}
	}
	panic("unreachable: claude- has a row")
}

// ForHour returns the prices of Anthropic's cache that lives for an hour. Other providers have none.
func (p Prices) ForHour() Prices {
	if p.Source == claudeSource {
		p.CacheWrite, p.TTLSeconds = hourWrite, hourTTL
	}
	return p
}

// tied are the models whose thinking belongs to the conversation that it was part of, so that none of it may be left out.
var tied = []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-1", "claude-mythos-5-1"}

// LetsThinkingGo reports whether a model's provider accepts a conversation from which the thinking of earlier turns was removed.
// Anthropic does, except for its newest models. Others, and models that are not named, are taken not to.
func LetsThinkingGo(model string) bool {
	i := strings.Index(strings.ToLower(model), "claude-")
	if i < 0 {
		return false
	}
	name := strings.ToLower(model[i:])
	for _, one := range tied {
		if strings.HasPrefix(name, one) {
			return false
		}
	}
	return true
}

// extra is what a token costs more when it is written again than when the cache is read, in input tokens.
func (p Prices) extra() float64 { return cmp.Or(p.CacheWrite, 1) - p.CacheRead }
