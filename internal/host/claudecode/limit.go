package claudecode

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/ctxls/ctxls/internal/core/session"
)

// The forms in which the API refuses a request as too long, with the tokens sent and the most allowed: "prompt is too
// long: 210000 tokens > 200000 maximum", and "input length and `max_tokens` exceed context limit: 188240 + 21333 >
// 200000", where the second number is the answer's share and was not sent.
var limitForms = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(\d{1,9})\s*tokens?\s*>\s*(\d{1,9})\s*maximum`),
		regexp.MustCompile(`exceed context limit:\s*(\d{1,9})\s*\+\s*\d+\s*>\s*(\d{1,9})`),
	}
})

// limitError returns what the first of the texts that is a refusal of a too long request states, nil when none is.
func limitError(texts ...string) *session.LimitError {
	for _, text := range texts {
		for _, form := range limitForms() {
			if m := form.FindStringSubmatch(text); m != nil {
				sent, _ := strconv.Atoi(m[1])
				most, _ := strconv.Atoi(m[2])
				return &session.LimitError{SentTokens: sent, MaxTokens: most}
			}
		}
	}
	for _, text := range texts {
		text = strings.ToLower(text)
		// Complaints about thinking blocks speak of limits too.
		if (strings.Contains(text, "prompt is too long") || strings.Contains(text, "context_length_exceeded")) &&
			!strings.Contains(text, "thinking") {
			return &session.LimitError{}
		}
	}
	return nil
}
