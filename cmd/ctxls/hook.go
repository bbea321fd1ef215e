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

// hookDeadline bounds a hook from start to end: hosts wait for it, and some kill it after a second.
const hookDeadline = 500 * time.Millisecond

var hookCommand = command{
	name: "hook", synopsis: "HOST [--event NAME]", short: "handle one hook of an agent host: its JSON on stdin",
	long: `
Reads the payload of a host's hook on stdin, stores what it reports, and prints the answer in the host's own format. A hook
never breaks its host: it logs every error, prints nothing, and exits with 0. It gives up after 500 ms, or after CTXLS_WAIT
milliseconds. CTXLS_DISABLE=1 turns all hooks off. The host generic is any agent that sends ctxls' own events; docs/hosts.md
describes them.`,
	examples: `ctxls hook claude-code < payload.json
echo '{"event": "prompt", "sessionId": "s1", "text": "hello"}' | ctxls hook generic`,
	words:  registry.Names(registry.All),
	silent: true,
	setup: func(fs *pflag.FlagSet) action {
		event := fs.String("event", "", "the host's `name` of the event, if the payload does not contain it")
		return func(_ context.Context, a *app, args []string) error {
			var h host.Host
			if len(args) == 1 {
				h, _ = registry.Find(session.Host(args[0]))
			}
			if h.ShowsStderr {
				a.stderr = io.Discard
			}
			done := a.runHook(func(ctx context.Context, s *core.Service, payload []byte) (string, error) {
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
				os.Exit(exitOK) // what still runs must not block the host
			}
			return nil
		}
	},
}

// hookWait is hookDeadline, or CTXLS_WAIT in milliseconds, for slow machines.
func (a *app) hookWait() time.Duration {
	if ms, err := strconv.Atoi(a.getenv("CTXLS_WAIT")); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return hookDeadline
}

// runHook runs do with the payload on stdin and prints its output. On an error, a panic or after hookWait it prints nothing and
// logs the error. done is false if do is still running. The context of do has no deadline: every query would start a goroutine to
// watch it, and the process exits anyway.
func (a *app) runHook(do func(context.Context, *core.Service, []byte) (string, error)) (done bool) {
	if a.getenv("CTXLS_DISABLE") == "1" {
		return true
	}
	wait := a.hookWait()
	type result struct {
		output string
		err    error
	}
	logs := make(chan *slog.Logger, 1) // stays empty if the settings could not be read
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
		a.settings("") // opens the log, before anything can fail
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
			a.logHookError(logs, "hook failed", r.err)
		}
		return true
	case <-time.After(wait):
		if a.typed() { // by a user who tries it
			fmt.Fprintln(a.stderr, "ctxls: nothing came on standard input; 'ctxls help hook' shows how to try it")
			return false
		}
		a.logHookError(logs, "hook gave up", fmt.Errorf("not done within %v", wait))
		return false
	}
}

// growStack grows the goroutine's stack to the 64 KiB that SQLite needs, in one step. Growing it by doubling copies the stack
// again and again, which took a twentieth of a hook's time.
//
//go:noinline
func growStack() (used byte) {
	var room [40 << 10]byte
	return room[time.Now().Nanosecond()&0xff]
}

// logHookError writes one line to the log, or to standard error if there is no log.
func (a *app) logHookError(logs <-chan *slog.Logger, what string, err error) {
	select {
	case log := <-logs:
		log.Error(what, "error", err)
	default:
		fmt.Fprintf(a.stderr, "ctxls: %s: %v\n", what, err)
	}
}
