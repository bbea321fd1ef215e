package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
)

// hookDeadline bounds a hook from its first to its last moment: hosts wait for it, and some kill it after a second.
const hookDeadline = 500 * time.Millisecond

var hookCommand = command{
	name: "hook", synopsis: "HOST [--event NAME]", short: "handle one hook of an agent host: its JSON on stdin",
	long: `
Reads the payload that a host gives its hooks, takes note of it, and prints what the host may be told in return, in the
form that it accepts. A hook never breaks its host: whatever goes wrong is logged, nothing is printed, and the exit status
is 0. CTXLS_DISABLE=1 makes every hook do nothing; a hook that is not done within 500 ms gives up, or within as many as
CTXLS_WAIT says. The host generic stands for any agent that tells its events in ctxls' own
words; docs/hosts.md has them.`,
	examples: `ctxls hook claude-code < payload.json
echo '{"event": "prompt", "sessionId": "s1", "text": "hello"}' | ctxls hook generic`,
	words:  registry.Names(registry.All),
	silent: true,
	setup: func(fs *pflag.FlagSet) action {
		event := fs.String("event", "", "the host's `name` of the event, where the payload does not say it")
		return func(_ context.Context, a *app, args []string) error {
			var h host.Host
			if len(args) == 1 {
				h, _ = registry.Find(session.Host(args[0]))
			}
			if h.ShowsStderr {
				a.stderr = io.Discard
			}
			done := a.quietly(func(ctx context.Context, s *core.Service, payload []byte) (string, error) {
				if len(args) != 1 {
					return "", usageError{"hook takes one host, such as claude-code"}
				}
				_, output, err := s.Hook(ctx, session.Host(args[0]), *event, payload)
				if h.ReportsInvalid && coded.CodeOf(err) == coded.Invalid {
					fmt.Fprintln(a.stderr, "ctxls:", err)
				}
				return string(output), err
			})
			if !done {
				os.Exit(exitOK) // whatever is still running must not hold the host
			}
			return nil
		}
	},
}

// hookWait is hookDeadline, or as many milliseconds as CTXLS_WAIT says: on a slow machine hosts may have to be patient.
func (a *app) hookWait() time.Duration {
	if ms, err := strconv.Atoi(a.getenv("CTXLS_WAIT")); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return hookDeadline
}

// quietly runs what a host waits for: within the deadline, printing what it returns, or nothing and a line in the log. It
// reports whether that is done, rather than given up and still running. The deadline is not in the context that do gets:
// every query would then have a goroutine to watch it, and the process ends anyway.
func (a *app) quietly(do func(context.Context, *core.Service, []byte) (string, error)) (done bool) {
	if a.getenv("CTXLS_DISABLE") == "1" {
		return true
	}
	wait := a.hookWait()
	type result struct {
		output string
		err    error
	}
	logs := make(chan *slog.Logger, 1) // stays empty when not even the settings could be read
	results := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.output, r.err = "", fmt.Errorf("panic: %v: %s", p, strings.ReplaceAll(string(debug.Stack()), "\n", " | "))
			}
			results <- r
		}()
		growStack()
		a.settings("") // the log must be there whatever happens below
		logs <- a.log
		payload, err := io.ReadAll(io.LimitReader(a.stdin, core.MaxPayload+1))
		switch {
		case err != nil:
			r.err = err
		case len(payload) > core.MaxPayload:
			r.err = coded.Errorf(coded.TooLarge, "payload: more than %d MiB", core.MaxPayload>>20)
		default:
			var s *core.Service
			if s, r.err = a.service(context.Background()); r.err == nil {
				r.output, r.err = do(context.Background(), s, payload)
			}
		}
	}()
	select {
	case r := <-results:
		if r.err == nil {
			_, r.err = io.WriteString(a.stdout, r.output)
		}
		if r.err != nil {
			a.complain(logs, "hook failed", r.err)
		}
		return true
	case <-time.After(wait):
		a.complain(logs, "hook gave up", fmt.Errorf("not done within %v", wait))
		return false
	}
}

// growStack makes the stack of a goroutine 64 KiB at once, which is what SQLite needs. Else it would be moved at each doubling, with
// more and more frames on it, which cost a hook a twentieth of its time.
//
//go:noinline
func growStack() (used byte) {
	var room [40 << 10]byte
	return room[time.Now().Nanosecond()&0xff]
}

// complain writes one line to the log, or to standard error where there is none.
func (a *app) complain(logs <-chan *slog.Logger, what string, err error) {
	select {
	case log := <-logs:
		log.Error(what, "error", err)
	default:
		fmt.Fprintf(a.stderr, "ctxls: %s: %v\n", what, err)
	}
}
