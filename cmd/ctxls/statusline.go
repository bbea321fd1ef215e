package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/ui"
)

const (
	// thenDeadline bounds the command that --then runs. People's status lines ask networks; Claude Code itself drops a run only
	// when the next one is due.
	thenDeadline = 5 * time.Second
	// maxThenOutput bounds what is passed on of it, in bytes.
	maxThenOutput = 1 << 20
)

var statuslineCommand = command{
	name: "statusline", synopsis: "[--then CMD [--silent]] [--color WHEN] [--width N]", short: "keep Claude Code's own figures and print one line for its status line",
	long: `
Claude Code runs its status line command after each response and gives it the figures that nobody else gets: the window,
the model as it is spelled, the tokens. ctxls keeps them for every other door and prints one line, coloured by level. "~" marks
an estimate, "+" a figure that is a response behind, "?" what is unknown. Parts are left out where the line is wider than
$COLUMNS. 'ctxls install claude-code --statusline' sets it up.

With --then, CMD gets the same JSON, and what it prints follows ours, unchanged. It may fail or hang: our line is printed
all the same.`,
	examples: `ctxls statusline < payload.json
ctxls statusline --then 'my-statusline.sh --short' < payload.json
CTXLS_STATUSLINE_FORMAT='{percent} of {window} | {left}' ctxls statusline < payload.json`,
	silent: true,
	setup: func(fs *pflag.FlagSet) action {
		then := fs.String("then", "", "a shell `command` that gets the same JSON and whose output follows")
		silent := fs.Bool("silent", false, "print only what the --then command prints")
		when := fs.String("color", "auto", "`when` to colour: always, never, or auto: unless $NO_COLOR is set or $TERM is dumb")
		width := fs.Int("width", 0, "room for the line in `characters`; 0 is $COLUMNS")
		return func(ctx context.Context, a *app, _ []string) error {
			passOn := func() {}
			if *then != "" {
				passOn = a.startThen(ctx, *then)
			}
			done := a.quietly(func(ctx context.Context, s *core.Service, payload []byte) (string, error) {
				out, _, err := s.Hook(ctx, session.HostClaudeCode, "StatusLine", payload)
				if err != nil || *silent {
					return "", err
				}
				return ui.Statusline(out.Session, ui.StatuslineOptions{
					Format: s.Config(out.Session.CWD).Statusline.Format, Width: a.columns(*width), Color: a.colored(*when),
				}) + "\n", nil
			})
			passOn()
			if !done {
				os.Exit(exitOK) // whatever is still running must not hold the host
			}
			return nil
		}
	},
}

// startThen starts the user's own command with what is on stdin, which stays there to be read again. The function that it
// returns waits for the command and passes on what it printed.
func (a *app) startThen(ctx context.Context, command string) (passOn func()) {
	read := make(chan []byte, 1)
	go func() {
		payload, _ := io.ReadAll(io.LimitReader(a.stdin, core.MaxPayload+1)) // what broke off is for both to judge
		read <- payload
	}()
	select {
	case payload := <-read:
		a.stdin = bytes.NewReader(payload)
	case <-time.After(a.hookWait()):
		a.stdin = bytes.NewReader(nil)
		return func() {}
	}
	payload := a.stdin.(*bytes.Reader)
	ctx, stop := untilSignal(ctx) // the command must not outlive us
	ctx, cancel := context.WithTimeout(ctx, thenDeadline)
	shell, flag := "sh", "-c"
	if _, err := exec.LookPath(shell); err != nil && runtime.GOOS == "windows" {
		shell, flag = "cmd", "/C"
	}
	var output, complaints limitedBuffer // not our own streams: what it leaves running would hold them open
	cmd := exec.CommandContext(ctx, shell, flag, command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.NewSectionReader(payload, 0, payload.Size()), &output, &complaints
	cmd.WaitDelay = 100 * time.Millisecond // for what it started and left running
	if err := cmd.Start(); err != nil {
		cancel()
		stop()
		return func() {
			a.settings("") // the log
			a.log.Error("status line of the user's own", "command", text.Sanitize(command, 200), "error", err)
		}
	}
	return func() {
		defer stop()
		defer cancel()
		if err := cmd.Wait(); err != nil {
			a.settings("") // the log
			a.log.Warn("status line of the user's own", "command", text.Sanitize(command, 200), "error", err)
		}
		_, _ = a.stdout.Write(output.Bytes())
		_, _ = a.stderr.Write(complaints.Bytes())
	}
}

// limitedBuffer keeps the first maxThenOutput bytes that are written to it.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxThenOutput-b.Len())])
	return len(p), nil
}

// columns returns the room there is: as told on the command line, else as the host tells it; 0 where nobody does.
func (a *app) columns(told int) int {
	if told > 0 {
		return told
	}
	n, err := strconv.Atoi(a.getenv("COLUMNS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// colored decides on colours. Hosts show them though they read the line from a pipe, so it does not matter where it goes
// (https://no-color.org).
func (a *app) colored(when string) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}
