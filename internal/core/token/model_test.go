package token_test

import (
	"testing"

	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/pkoukk/tiktoken-go"
)

func TestForModel(t *testing.T) {
	for _, test := range []struct {
		model    string
		encoding string
		known    bool
	}{
		{"gpt-4", token.Cl100k, true},
		{"gpt-4-0613", token.Cl100k, true},
		{"gpt-4-turbo-2024-04-09", token.Cl100k, true},
		{"gpt-3.5-turbo", token.Cl100k, true},
		{"gpt-35-turbo", token.Cl100k, true},
		{"text-embedding-3-small", token.Cl100k, true},
		{"gpt-4o", token.O200k, true},
		{"gpt-4o-mini", token.O200k, true},
		{"chatgpt-4o-latest", token.O200k, true},
		{"gpt-4.1", token.O200k, true},
		{"gpt-4.1-nano", token.O200k, true},
		{"gpt-4.5-preview", token.O200k, true},
		{"o1", token.O200k, true},
		{"o1-preview", token.O200k, true},
		{"o3", token.O200k, true},
		{"o3-mini-high", token.O200k, true},
		{"o4-mini", token.O200k, true},
		{"gpt-5", token.O200k, true},
		{"gpt-5-codex", token.O200k, true},
		{"gpt-5.1", token.O200k, true},
		{"gpt-6-mini", token.O200k, true},
		{"gpt-10", token.O200k, true},
		{"gpt-oss-120b", token.O200k, true},
		{"openai/gpt-5", token.O200k, true},
		{"openrouter/openai/gpt-4o:extended", token.O200k, true},
		{"openai.gpt-oss-20b-1:0", token.O200k, true},
		{"azure/GPT-4", token.Cl100k, true},
		{"ft:gpt-4o-mini-2024-07-18:org::id", token.O200k, true},
		{"ft:gpt-3.5-turbo", token.Cl100k, true},

		{"", token.Cl100k, false},
		{"claude-sonnet-4-5", token.Cl100k, false},
		{"anthropic/claude-opus-4", token.Cl100k, false},
		{"gemini-2.5-pro", token.Cl100k, false},
		{"llama-3", token.Cl100k, false},
		{"o1x", token.Cl100k, false},
		{"o30", token.Cl100k, false},
		{"gpt-4x", token.Cl100k, false},
		{"gpt-2024", token.Cl100k, false},
		{"gpt-5x", token.Cl100k, false},
		{"gpt-neo", token.Cl100k, false},
		{"gpt2", token.Cl100k, false},             // gpt2
		{"text-davinci-003", token.Cl100k, false}, // p50k_base
		{"davinci", token.Cl100k, false},          // r50k_base
		{"gpt-5/", token.Cl100k, false},
	} {
		encoding, known := token.ForModel(test.model)
		if encoding != test.encoding || known != test.known {
			t.Errorf("ForModel(%q) = %s, %v; want %s, %v", test.model, encoding, known, test.encoding, test.known)
		}
	}
}

// tiktoken-go is the reference: if it maps a model to one of our encodings, so do we. If it maps a model to another
// encoding, we do not claim to know the model.
func TestForModelAsTiktoken(t *testing.T) {
	check := func(model, want string) {
		encoding, known := token.ForModel(model)
		ours := want == token.Cl100k || want == token.O200k
		if known != ours || ours && encoding != want {
			t.Errorf("ForModel(%q) = %s, %v; tiktoken-go has %s", model, encoding, known, want)
		}
	}
	for model, encoding := range tiktoken.MODEL_TO_ENCODING {
		check(model, encoding)
	}
	for prefix, encoding := range tiktoken.MODEL_PREFIX_TO_ENCODING {
		check(prefix+"2030-01-01", encoding)
	}
}
