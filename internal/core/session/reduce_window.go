package session

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// learnedExpires is the time for which a learned window holds for other sessions. Accounts and their limits change.
const learnedExpires = 30 * 24 * time.Hour

// minStatedWindow is the smallest window, in tokens, that ctxls accepts from a refusal.
const minStatedWindow = 1_000

// Current returns the learned window, or nothing once it is too old.
func (l LearnedWindow) Current(now time.Time) LearnedWindow {
	if !l.At.IsZero() && now.After(l.Expires()) {
		l.AcceptedTokens, l.StatedTokens, l.Why = 0, 0, ""
	}
	return l
}

// Expires returns the time until which the learned window holds for other sessions.
func (l LearnedWindow) Expires() time.Time { return l.At.Add(learnedExpires) }

// teaches reports whether anything was learned.
func (l LearnedWindow) teaches() bool {
	return l.AcceptedTokens > 0 || l.StatedTokens > 0 || l.CompactedTokens > 0
}

// shares reports whether proofs of this session hold for other sessions of its model, and theirs for this session. This is so if the
// model ID is known with its options, and the host states no window.
func (s Session) shares(rules Rules) bool {
	return s.plainlyNamed(rules) && s.Limits.WindowTokens == 0 && s.Settings.MaxWindow == 0
}

// plainlyNamed reports whether the session's model is known to run without the option of a long window.
func (s Session) plainlyNamed(rules Rules) bool {
	return s.Model != "" && (s.Spelled || !rules.SuffixHidden) && !model.Parse(s.Model).Million
}

// Window returns the window in force for the session's main chain. learned is the proof of other sessions.
func (s Session) Window(learned LearnedWindow, cfg settings.Config, rules Rules, now time.Time) model.Window {
	known := s.Proof
	if !known.teaches() && s.shares(rules) {
		known = learned.Current(now)
	}
	return WindowOf(WindowInput{s.Host, s.HostVersion, s.Provider, s.Model, s.Limits, s.Settings, known}, cfg.Window, rules)
}

// WindowInput is the input for resolving a window. Zero fields are unknown.
type WindowInput struct {
	Host            Host
	Version         string // of the host
	Provider, Model string
	Limits          model.Limits   // the host's own figures
	Settings        model.Settings // the user's, of the host
	Learned         LearnedWindow  // sizes that the provider accepted and refused before
}

// WindowOf returns the window in force for a model under a host, the reason, and where the host compacts.
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

// learned returns the proof of other sessions about the session's model. The loaded one may be of the model that the session had before.
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

// plausible reports whether a window can hold that many tokens: at most a quarter more than the largest that the table, the host or the
// user states.
func (r *reduction) plausible(tokens int) bool {
	return tokens <= max(model.LargestWindow(), r.window().Tokens, r.s.Limits.WindowTokens)/4*5
}

// learnAccepted learns that the provider accepted a request larger than the assumed window.
func (r *reduction) learnAccepted(tokens int, why string) {
	if r.s.Model == "" || tokens <= r.window().Tokens || !r.plausible(tokens) {
		return
	}
	if model.IsOverridden(r.cfg.Window.Overrides, r.s.Model) && r.s.Limits.WindowTokens == 0 {
		return // the user knows better
	}
	r.s.Limits.WindowTokens = 0 // the host stated its figure at another time
	r.prove(LearnedWindow{AcceptedTokens: tokens, Why: why})
}

// learnStated learns the maximum that a refusal stated.
func (r *reduction) learnStated(e LimitError) {
	if e.MaxTokens < minStatedWindow || e.MaxTokens == r.window().Tokens || !r.plausible(e.MaxTokens) {
		return
	}
	r.prove(LearnedWindow{StatedTokens: e.MaxTokens, Why: fmt.Sprintf("a request was refused: the maximum is %s tokens", text.Thousands(e.MaxTokens))})
}

// learnCompacted learns that the host compacted earlier than expected: the window of this session is smaller than assumed, or a setting
// of the user says so.
func (r *reduction) learnCompacted(tokens int) {
	if w := r.window(); r.s.Model == "" || tokens < minStatedWindow || !w.Early(tokens) {
		return
	}
	r.s.Proof = LearnedWindow{CompactedTokens: tokens, Why: fmt.Sprintf("the host compacted by itself at %s tokens", text.Thousands(tokens)), At: r.now}
}

// prove stores the proof of this session, in place of earlier proofs.
func (r *reduction) prove(l LearnedWindow) {
	shared := r.learned()
	l.At = r.now
	r.s.Proof = l
	if r.shares() {
		l.Host, l.Provider, l.Model = shared.Host, shared.Provider, shared.Model
		r.ch.Learned = &l
	}
}
