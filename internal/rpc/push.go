package rpc

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
)

const (
	// gatherTime is how long changes are gathered after the first: a host that runs several hooks at once makes a burst of
	// them, of which the client needs the outcome.
	gatherTime = 20 * time.Millisecond
	// retryFirst and retryLast bound the pause before a client that does not read, or a store that cannot be reached, is
	// tried again; it doubles.
	retryFirst, retryLast = 100 * time.Millisecond, time.Second
	// hostCheck is how often the processes of hosts are looked for. A look at a hundred and the waking cost 0.1 ms.
	hostCheck = 5 * time.Second
	// clockCheck is how often the clock is looked at where nothing is due before: timers stand still while the machine
	// sleeps.
	clockCheck = time.Minute
)

// push notifies the client of changes in the store from the handshake until ctx ends. It starts with all current sessions.
//
// It keeps no backlog for a client that does not read. When the client reads again, push reads the current sessions from the store.
func (s *Server) push(ctx context.Context) {
	select {
	case <-s.client.readied:
	case <-ctx.Done():
		return
	}
	if s.service == nil || s.client.wantsNoSessions() {
		return
	}
	wake := s.service.Watch(ctx)
	p := pusher{server: s, seed: maphash.MakeSeed(), known: map[session.Key]concern{}}
	retry := time.Duration(0) // the pause that follows a failure; 0 after none
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
			select {
			case <-time.After(max(gatherTime, retry)):
			case <-ctx.Done():
				return
			}
			select {
			case <-wake: // gathered
			default:
			}
		case <-s.stale:
			p.leaveFolders(s.service.Spellings(s.client.scope()))
			p.since = 0
		case <-timer.C:
			if p.isDue() {
				p.since = 0
			} else if retry == 0 && p.started {
				timer.Reset(p.untilDue())
				continue
			}
		}
		err := p.tell(ctx)
		if err == nil {
			retry = 0
			timer.Reset(p.untilDue())
			continue
		}
		if retry == 0 {
			s.log.Debug("the client could not be told of changes", "error", err)
		}
		retry = min(max(2*retry, retryFirst), retryLast)
		timer.Reset(retry)
	}
}

// lookAnew makes push compare all that it told the client with what is true now.
func (s *Server) lookAnew() {
	select {
	case s.stale <- struct{}{}:
	default:
	}
}

// pusher is what one client was told.
type pusher struct {
	server  *Server
	seed    maphash.Seed
	started bool  // the fields below hold what the store said
	since   int64 // the revision up to which the client was told everything; 0 is nothing
	alert   fleet.AlertGate
	learned []session.LearnedWindow
	known   map[session.Key]concern // the sessions that concern the client
}

// concern is what the pusher keeps of a session.
type concern struct {
	said      uint64 // hash of the params that the client was sent last; 0 for none
	cwd       string
	pid       int       // of the host while the session is active, else 0
	changesAt time.Time // as of session.Session.ChangesAt
}

// tell tells the client everything since p.since. After an error some of it is still to be told.
func (p *pusher) tell(ctx context.Context) error {
	service := p.server.service
	news, err := service.Changed(ctx, p.since)
	if err == nil && p.since != 0 && !slices.Equal(news.Learned, p.learned) {
		news, err = service.Changed(ctx, 0) // any session may be seen differently
	}
	if err != nil {
		return err
	}
	p.learned = news.Learned
	scope := service.Spellings(p.server.client.scope())
	there := make(map[session.Key]bool, len(news.Views))
	for i, view := range news.Views {
		key := news.Sessions[i].Session.Key()
		there[key] = true
		if e := p.changed(news.Sessions[i].Session, view, scope); e != nil {
			err = e
		}
	}
	removed := news.Removed
	if news.Whole {
		for key := range p.known {
			if !there[key] {
				removed = append(removed, key)
			}
		}
	}
	for _, key := range removed {
		if e := p.removed(key); e != nil {
			err = e
		}
	}
	if e := p.alerted(ctx, news.Alert); e != nil {
		err = e
	}
	p.started = true
	if err == nil {
		p.since = news.Revision
	}
	return err
}

// changed tells the client how a session is now, if it concerns the client and is not what it was told last. One that the
// client was told of concerns it wherever the session goes; one that had ended before is nothing to begin with.
func (p *pusher) changed(session session.Session, view core.SessionView, scope []string) error {
	key := session.Key()
	k, isKnown := p.known[key]
	if !isKnown && len(scope) > 0 && !pathname.InFolders(scope, session.CWD) {
		return nil
	}
	k.cwd, k.pid, k.changesAt = session.CWD, 0, session.ChangesAt(p.server.service.Now())
	if view.State == core.StateActive {
		k.pid = session.HostPID
	}
	defer func() { p.known[key] = k }()
	if k.said == 0 && view.State == core.StateEnded {
		return nil
	}
	raw, err := encode(SessionChangedParams{view})
	if err != nil {
		return err
	}
	hash := max(maphash.Bytes(p.seed, raw), 1)
	if hash == k.said {
		return nil
	}
	if err := p.server.notify("session/changed", raw); err != nil {
		return err
	}
	k.said = hash
	return nil
}

// removed tells the client that a session is forgotten, if it concerned the client.
func (p *pusher) removed(key session.Key) error {
	if _, isKnown := p.known[key]; !isKnown {
		return nil
	}
	err := p.server.Notify("session/removed", SessionRemovedParams{key.Host, key.SessionID})
	if err == nil {
		delete(p.known, key)
	}
	return err
}

// alerted tells the client of an alert that was raised since it was there.
func (p *pusher) alerted(ctx context.Context, gate fleet.AlertGate) error {
	if p.started && gate != p.alert && !gate.At.IsZero() {
		alert, err := p.server.service.Alert(ctx, gate)
		if err == nil {
			err = p.server.Notify("metrics/thresholdExceeded", alert)
		}
		if err != nil {
			return err
		}
	}
	p.alert = gate
	return nil
}

// leaveFolders makes the pusher forget the sessions that no longer concern a client with these folders.
func (p *pusher) leaveFolders(scope []string) {
	for key, k := range p.known {
		if len(scope) > 0 && !pathname.InFolders(scope, k.cwd) {
			delete(p.known, key)
		}
	}
}

// isDue reports whether a session is to be seen differently than the client was told though nothing was saved.
func (p *pusher) isDue() bool {
	now := p.server.service.Now()
	for _, k := range p.known {
		if !k.changesAt.IsZero() && now.After(k.changesAt) || p.server.service.HostGone(k.pid) {
			return true
		}
	}
	return false
}

// untilDue returns when to ask isDue next.
func (p *pusher) untilDue() time.Duration {
	now, wait := p.server.service.Now(), clockCheck
	for _, k := range p.known {
		if !k.changesAt.IsZero() {
			wait = min(wait, k.changesAt.Sub(now)+time.Millisecond)
		}
		if k.pid > 0 {
			wait = min(wait, hostCheck)
		}
	}
	return max(wait, gatherTime)
}
