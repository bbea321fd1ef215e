package token

import "strings"

// ForModel gives the name of the encoding that a model counts in. known is true
// when the model really uses it; otherwise (Claude, Gemini, models with an older
// or an unpublished encoding, no model at all) the answer is Cl100k with known
// false, and a count in it is an estimate.
//
// Model names are matched without regard to case. What comes before the last
// slash (a provider, as in openai/gpt-5 or openrouter/openai/gpt-5), a leading
// "openai." (Amazon Bedrock) and a leading "ft:" (fine-tuned models) are ignored.
// tiktoken-go's own tables are asked first, then the families that it lacks.
func ForModel(model string) (encoding string, known bool) {
	model = strings.ToLower(model)
	model = model[strings.LastIndexByte(model, '/')+1:]
	model = strings.TrimPrefix(model, "openai.")
	model = strings.TrimPrefix(model, "ft:")
	if encoding, ok := modelEncodings[model]; ok {
		return encoding, true
	}
	for prefix, encoding := range prefixEncodings {
		if strings.HasPrefix(model, prefix) {
			return encoding, true
		}
	}
	for _, family := range families {
		if rest, ok := strings.CutPrefix(model, family.name); ok && ends(rest) {
			return family.encoding, true
		}
	}
	if rest, ok := strings.CutPrefix(model, "gpt-"); ok && generation(rest) >= 5 {
		return O200k, true
	}
	return Cl100k, false
}

// families are the models that tiktoken-go v0.1.8 lacks, as OpenAI's own
// tiktoken/model.py maps them.
var families = []struct{ name, encoding string }{
	{"o1", O200k},
	{"o3", O200k},
	{"o4", O200k},
	{"gpt-4o", O200k},
	{"gpt-4.1", O200k},
	{"gpt-4.5", O200k},
	{"chatgpt-4o", O200k},
	{"gpt-oss", O200k}, // o200k_harmony: the same ranks, other special tokens
	{"gpt-4", Cl100k},
	{"gpt-3.5", Cl100k},
	{"gpt-35", Cl100k}, // Azure's spelling
}

// ends reports whether a family's name may end before rest: not in the middle of
// a word or a number.
func ends(rest string) bool {
	return rest == "" || strings.IndexByte("-:@_[ ", rest[0]) >= 0
}

// generation is the whole number that s begins with, or 0. A number of more than
// two digits is a date or a size, not a generation.
func generation(s string) int {
	n, digits := 0, 0
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		n = n*10 + int(s[digits]-'0')
		digits++
		if digits > 2 {
			return 0
		}
	}
	if rest := s[digits:]; rest != "" && rest[0] != '.' && !ends(rest) {
		return 0
	}
	return n
}
