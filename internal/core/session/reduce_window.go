package session

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// learnedExpires is how long what was learned of a window holds for other sessions: accounts and their limits change.
const learnedExpires = 30 * 24 * time.Hour

// minStatedWindow is the smallest window that a refusal is believed to state, in tokens.
const minStatedWindow = 1_000

// Current returns what was learned, nothing of it once it is too old.
func (l LearnedWindow) Current(now time.Time) LearnedWindow {
	if !l.At.IsZero() && now.After(l.Expires()) {
		l.AcceptedTokens, l.StatedTokens, l.Why = 0, 0, ""
	}
	return l
}

// Expires returns until when what was learned holds for other sessions.
func (l LearnedWindow) Expires() time.Time { return l.At.Add(learnedExpires) }

// teaches reports whether anything was learned.
func (l LearnedWindow) teaches() bool {
	return l.AcceptedTokens > 0 || l.StatedTokens > 0 || l.CompactedTokens > 0
}

// shares reports whether what the session proves holds for others of its model, and what others proved for it: where the id is known
// with its options, and the host states no window of its own.
func (s Session) shares(rules Rules) bool {
	return s.plainlyNamed(rules) && s.Limits.WindowTokens == 0 && s.Settings.MaxWindow == 0
}

// plainlyNamed reports whether the session's model is known to run without the option of a long window.
func (s Session) plainlyNamed(rules Rules) bool {
	return s.Model != "" && (s.Spelled || !rules.SuffixHidden) && !model.Parse(s.Model).Million
}

// Window returns the window in force for the session's main chain. learned is what others proved.
func (s Session) Window(learned LearnedWindow, cfg settings.Config, rules Rules, now time.Time) model.Window {
	known := s.Proof
	if !known.teaches() && s.shares(rules) {
		known = learned.Current(now)
	}
	return WindowOf(WindowInput{s.Host, s.HostVersion, s.Provider, s.Model, s.Limits, s.Settings, known}, cfg.Window, rules)
}

// WindowInput is what a window follows from. Its zero fields are unknown.
type WindowInput struct {
	Host            Host
	Version         string // of the host
	Provider, Model string
	Limits          model.Limits   // the host's own figures
	Settings        model.Settings // the user's, of the host
	Learned         LearnedWindow  // what the provider accepted and refused before
}

// WindowOf returns the window in force for a model under a host, and why, and where the host compacts.
func WindowOf(in WindowInput, cfg settings.WindowConfig, rules Rules) model.Window {
	l := in.Learned
	return model.Resolve(model.Input{
		Host: string(in.Host), Version: in.Version, Provider: cmp.Or(in.Provider, rules.Provider), Model: in.Model, Limits: in.Limits, Settings: in.Settings,
		Learned: model.Learned{AcceptedTokens: l.AcceptedTokens, StatedTokens: l.StatedTokens, CompactedTokens: l.CompactedTokens, Why: l.Why},
	}, cfg, rules.Compaction)
}

// resolvedWindow is the window in force, and what it followed from. A record of a session holds hundreds of reports, and nearly all of
// them leave the window as it was.
type resolvedWindow struct {
	of     windowCause
	window model.Window
}

// windowCause is what can change the window while one event is reduced, beside the user's settings of the host.
type windowCause struct {
	version, provider, model string
	limits                   model.Limits
	proof                    LearnedWindow
	learned                  *LearnedWindow
}

// window returns the window in force, with what the event itself taught.
func (r *reduction) window() model.Window {
	cause := windowCause{r.s.HostVersion, r.s.Provider, r.s.Model, r.s.Limits, r.s.Proof, r.ch.Learned}
	if r.resolved.window.Tokens == 0 || r.resolved.of != cause {
		r.resolved = resolvedWindow{cause, r.s.Window(r.learned(), r.cfg, r.st.Rules, r.now)}
	}
	return r.resolved.window
}

func (r *reduction) shares() bool { return r.s.shares(r.st.Rules) }

// learned returns what others proved of the session's model; what was loaded may be of the model that it had before.
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

// plausible reports whether a window can hold as many tokens: a quarter more than the largest that any table, the host or the user
// has stated.
func (r *reduction) plausible(tokens int) bool {
	return tokens <= max(model.LargestWindow(), r.window().Tokens, r.s.Limits.WindowTokens)/4*5
}

// learnAccepted takes over that a request was accepted which is larger than the window was taken to be.
func (r *reduction) learnAccepted(tokens int, why string) {
	if r.s.Model == "" || tokens <= r.window().Tokens || !r.plausible(tokens) {
		return
	}
	if model.IsOverridden(r.cfg.Window.Overrides, r.s.Model) && r.s.Limits.WindowTokens == 0 {
		return // the user knows better
	}
	r.s.Limits.WindowTokens = 0 // the host's figure is of another time
	r.prove(LearnedWindow{AcceptedTokens: tokens, Why: why})
}

// learnStated takes over the maximum that a refusal stated.
func (r *reduction) learnStated(e LimitError) {
	if e.MaxTokens < minStatedWindow || e.MaxTokens == r.window().Tokens || !r.plausible(e.MaxTokens) {
		return
	}
	r.prove(LearnedWindow{StatedTokens: e.MaxTokens, Why: fmt.Sprintf("a request was refused: the maximum is %s tokens", text.Thousands(e.MaxTokens))})
}

// learnCompacted takes over that the host compacted by itself earlier than it was taken to: in this session the window is smaller
// than was learned, or the user's settings say so.
func (r *reduction) learnCompacted(tokens int) {
	if w := r.window(); r.s.Model == "" || tokens < minStatedWindow || !w.Early(tokens) {
		return
	}
	r.s.Proof = LearnedWindow{CompactedTokens: tokens, Why: fmt.Sprintf("the host compacted by itself at %s tokens", text.Thousands(tokens)), At: r.now}
}

// prove takes over what the session has shown, in place of what it or others have shown before.
func (r *reduction) prove(l LearnedWindow) {
	shared := r.learned()
	l.At = r.now
	r.s.Proof = l
	if r.shares() {
		l.Host, l.Provider, l.Model = shared.Host, shared.Provider, shared.Model
		r.ch.Learned = &l
	}
}
