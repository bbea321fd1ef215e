package push

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
)

const (
	// firstRetry and lastRetry bound the pause before another try where the other end cannot be reached; it doubles, and differs between
	// machines, so that a server that comes back is not met by all of them at once.
	firstRetry, lastRetry = time.Second, time.Minute
	// restAfter is how long a connection is kept on which nothing is sent.
	restAfter = time.Minute
)

// Watch pushes what changes until ctx ends, and returns nil then. Changes are gathered for some time after the first. An error that may pass is
// logged, once, and tried again; one that needs a person is returned.
func (p *Pusher) Watch(ctx context.Context, gather time.Duration, rest func(), log *slog.Logger) error {
	changed := p.Source.Watch(ctx)
	pause, failing := time.Duration(0), false
	idle := time.NewTimer(restAfter)
	defer idle.Stop()
	for {
		some, err := p.Push(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrLostCursor) && !failing:
			log.Warn(err.Error())
			failing = true
			continue
		case err != nil && !temporary(err):
			return err
		case err != nil:
			if !failing {
				log.Warn("nothing is sent for now", "why", err.Error())
			}
			failing = true
			pause = min(max(2*pause, firstRetry), lastRetry)
			if !sleep(ctx, time.Duration(float64(pause)*(0.5+rand.Float64()/2))) {
				return nil
			}
			continue
		}
		if failing {
			log.Info("what was missing is sent")
		}
		pause, failing = 0, false
		if some {
			idle.Reset(restAfter)
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
				waiting = false
			case <-idle.C:
				rest()
				p.Forget() // if another process sends for this machine meanwhile, the next push finds out
			}
		}
		if !sleep(ctx, gather) {
			return nil
		}
		select {
		case <-changed: // it was gathered
		default:
		}
	}
}

// temporary reports whether trying again may help.
func temporary(err error) bool {
	if t, ok := errors.AsType[interface {
		error
		Temporary() bool
	}](err); ok {
		return t.Temporary()
	}
	return coded.CodeOf(err) == coded.Unavailable
}

// sleep waits, and reports whether ctx still lasts.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
