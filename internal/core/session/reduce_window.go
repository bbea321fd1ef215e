package session

import (
	"cmp"
	"fmt"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// window returns the window in force, with what the event itself taught.
func (r *reduction) window() model.Window {
	return r.s.Window(r.learned(), r.cfg, r.st.Rules)
}

// learned returns what is known of the session's model; what was loaded may be of the model that it had before.
func (r *reduction) learned() LearnedWindow {
	l := r.st.Learned
	if r.ch.Learned != nil {
		l = *r.ch.Learned
	}
	if l.Model != model.Plain(r.s.Model) || l.Provider != r.s.Provider {
		return LearnedWindow{Host: r.s.Host, Provider: r.s.Provider, Model: model.Plain(r.s.Model)}
	}
	return l
}

func (r *reduction) learnAccepted(tokens int, why string) {
	l := r.learned()
	if r.s.Model == "" || tokens <= r.window().Tokens || tokens <= l.AcceptedTokens {
		return
	}
	l.AcceptedTokens, l.Why, l.At = tokens, why, r.now
	r.ch.Learned = &l
}

func (r *reduction) learnStated(e LimitError) {
	l := r.learned()
	if e.MaxTokens <= 0 || e.MaxTokens == r.window().Tokens {
		return
	}
	l.StatedTokens, l.Why, l.At = e.MaxTokens, fmt.Sprintf("a request was refused: the maximum is %s tokens", text.Thousands(e.MaxTokens)), r.now
	if r.s.Model == "" { // it is true of this session, and of no other
		r.s.Unnamed = l
		return
	}
	r.ch.Learned = &l
}

// window returns the window in force for the session's main chain.
func (s Session) Window(learned LearnedWindow, cfg settings.Config, rules Rules) model.Window {
	if s.Model == "" {
		learned = s.Unnamed
	}
	return WindowOf(s.Host, s.Provider, s.Model, s.Limits, learned, cfg.Window, rules)
}

// WindowOf returns the window in force for a model under a host, and why, with what was learned of it from its provider.
func WindowOf(host Host, provider, modelID string, limits model.Limits, learned LearnedWindow, cfg settings.WindowConfig, rules Rules) model.Window {
	known := model.Learned{AcceptedTokens: learned.AcceptedTokens, StatedTokens: learned.StatedTokens, Why: learned.Why}
	return model.Resolve(string(host), cmp.Or(provider, rules.Provider), modelID, limits, known, cfg, rules.Compaction)
}
