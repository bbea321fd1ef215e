package pi

import (
	"encoding/json"
	"path/filepath"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/settings"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// What pi 0.73.1 takes for a model that models.json adds without saying so, in tokens (its dist/core/model-registry.js).
const (
	addedWindow = 128_000
	addedOutput = 16_384
)

// maxModelsBytes bounds how much of models.json is read.
const maxModelsBytes = 4 << 20

// userModels are the limits of models that the user's models.json states, by provider and id. pi's record does not state them.
type userModels map[[2]string]model.Limits

// readModels reads models.json in pi's directory. It adds models, and changes models that pi knows. A file that pi cannot parse
// states nothing.
func readModels(dir string) userModels {
	path := filepath.Join(dir, "models.json")
	text, err := transcript.Head(path, maxModelsBytes)
	if err != nil {
		return nil
	}
	doc, err := settings.Parse(path, text) // pi takes comments and trailing commas
	if err != nil {
		return nil
	}
	type stated struct {
		ID            string  `json:"id"`
		ContextWindow float64 `json:"contextWindow"`
		MaxTokens     float64 `json:"maxTokens"`
	}
	var providers map[string]struct {
		Models         []stated          `json:"models"`
		ModelOverrides map[string]stated `json:"modelOverrides"`
	}
	if json.Unmarshal([]byte(doc.Raw("providers")), &providers) != nil {
		return nil
	}
	found := userModels{}
	for provider, p := range providers {
		for id, m := range p.ModelOverrides {
			found[[2]string{provider, id}] = model.Limits{WindowTokens: int(m.ContextWindow), OutputTokens: int(m.MaxTokens)}
		}
		for _, m := range p.Models {
			added := model.Limits{WindowTokens: addedWindow, OutputTokens: addedOutput}
			found[[2]string{provider, m.ID}] = added.With(model.Limits{WindowTokens: int(m.ContextWindow), OutputTokens: int(m.MaxTokens)})
		}
	}
	return found
}

// entry decodes a line as entry does, with the limits of the model that answered. It returns the provider of an answer.
func (models userModels) entry(data []byte) (e session.Entry, provider string, ok bool) {
	e, ok = entry(data)
	if e.Report == nil {
		return e, "", ok
	}
	var message, name []byte
	transcript.Pick(data, transcript.Field{Name: "message", Value: &message})
	transcript.Pick(message, transcript.Field{Name: "provider", Value: &name})
	provider = transcript.String(name)
	e.Limits = models[[2]string{provider, e.Report.Model}]
	return e, provider, ok
}
