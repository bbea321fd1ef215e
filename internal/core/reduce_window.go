package core

import "fmt"

// window returns the window in force, with what the event itself taught.
func (r *reduction) window() Window {
	return r.s.window(r.learned(), r.cfg, r.st.Rules)
}

// learned returns what is known of the session's model; what was loaded may be of the model that it had before.
func (r *reduction) learned() LearnedWindow {
	l := r.st.Learned
	if r.ch.Learned != nil {
		l = *r.ch.Learned
	}
	if l.Model != PlainModel(r.s.Model) || l.Provider != r.s.Provider {
		return LearnedWindow{Host: r.s.Host, Provider: r.s.Provider, Model: PlainModel(r.s.Model)}
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
	l.StatedTokens, l.Why, l.At = e.MaxTokens, fmt.Sprintf("a request was refused: the maximum is %s tokens", groupDigits(e.MaxTokens)), r.now
	if r.s.Model == "" { // it is true of this session, and of no other
		r.s.Unnamed = l
		return
	}
	r.ch.Learned = &l
}
