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
	"github.com/ctxls/ctxls/internal/host/claudecode"
	"github.com/ctxls/ctxls/internal/ui"
)

const (
	// thenDeadline bounds the command that --then runs. Status lines of users call networks. Claude Code itself cancels a run only
	// when it starts the next.
	thenDeadline = 5 * time.Second
	// maxThenOutput bounds the output of that command, in bytes.
	maxThenOutput = 1 << 20
)

var statuslineCommand = command{
	name: "statusline", synopsis: "[--agents | --then CMD [--silent]] [--color WHEN] [--width N]", short: "store Claude Code's own figures and print its status line",
	long: `
Claude Code runs its status line command after each response, and passes it figures that hooks do not get: the window, the
full name of the model, and the tokens. ctxls stores them and prints one line, colored by level. "~" marks an estimate, "+" a
figure that is one response behind, "?" an unknown figure. If the line is wider than $COLUMNS, some parts are left out.
'ctxls install claude-code --statusline' sets it up.

With --then, CMD gets the same JSON. Its output follows the line of ctxls, unchanged. If CMD fails or hangs, ctxls prints its
own line all the same.

With --agents, the input is that of Claude Code's setting subagentStatusLine, and the output a line of JSON for each sub-agent:
the share of its own window. 'ctxls install claude-code --agents' sets it up. Claude Code calls this setting deprecated.`,
	examples: `ctxls statusline < payload.json
ctxls statusline --then 'my-statusline.sh --short' < payload.json
CTXLS_STATUSLINE_FORMAT='{percent} of {window} | {left}' ctxls statusline < payload.json`,
	silent: true,
	setup: func(fs *pflag.FlagSet) action {
		agents := fs.Bool("agents", false, "print a row for each sub-agent instead, for the setting subagentStatusLine")
		then := fs.String("then", "", "a shell `command` that gets the same JSON; its output follows")
		silent := fs.Bool("silent", false, "print only what the --then command prints")
		when := fs.String("color", "auto", "`when` to use colors: always, never, or auto (unless $NO_COLOR is set or $TERM is dumb)")
		width := fs.Int("width", 0, "width of the line in `characters`; 0 is $COLUMNS")
		return func(ctx context.Context, a *app, _ []string) error {
			if *agents && (*then != "" || *silent) {
				return usageError{"--agents excludes --then and --silent: rows of other commands have no place beside it"}
			}
			printThen := func() {}
			if *then != "" {
				printThen = a.startThen(ctx, *then)
			}
			done := a.runHook(func(ctx context.Context, s *core.Service, payload []byte) (string, error) {
				options := ui.StatuslineOptions{Width: a.columns(*width), Color: a.colored(*when), Now: time.Now()}
				if *agents {
					return agentRows(ctx, s, payload, options)
				}
				out, _, err := s.Hook(ctx, session.HostClaudeCode, "StatusLine", payload)
				if err != nil || *silent {
					return "", err
				}
				options.Format, options.Cache = s.Config(out.Session.CWD).Statusline.Format, ui.PromptCache(claudecode.DecodeCache(payload))
				return ui.Statusline(out.Session, options) + "\n", nil
			})
			printThen()
			if !done {
				os.Exit(exitOK) // whatever is still running must not hold the host
			}
			return nil
		}
	},
}

// agentRows returns what Claude Code shows of its sub-agents, by the payload of subagentStatusLine.
func agentRows(ctx context.Context, s *core.Service, payload []byte, options ui.StatuslineOptions) (string, error) {
	rows, err := claudecode.DecodeAgents(payload)
	if err != nil {
		return "", err
	}
	if rows.Columns > 0 && (options.Width == 0 || rows.Columns < options.Width) {
		options.Width = rows.Columns
	}
	agents := make([]session.Agent, 0, len(rows.Rows))
	for _, row := range rows.Rows {
		agents = append(agents, row.Agent)
	}
	views, err := s.ViewAgents(ctx, rows.Key, rows.CWD, agents)
	if err != nil {
		return "", err
	}
	contents := make([]string, 0, len(views))
	for i, view := range views {
		contents = append(contents, ui.AgentRow(rows.Rows[i].Label, rows.Rows[i].Agent.Model, view.Usage, options))
	}
	return claudecode.EncodeAgents(rows.Rows, contents)
}

// startThen starts the user's own command with the payload on stdin, and keeps the payload for ctxls. printThen waits for the
// command and prints its output.
func (a *app) startThen(ctx context.Context, command string) (printThen func()) {
	read := make(chan []byte, 1)
	go func() {
		payload, _ := io.ReadAll(io.LimitReader(a.stdin, core.MaxPayload+1)) // both programs handle a payload that is cut off
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
	ctx, stop := untilSignal(ctx) // the command must not outlive ctxls
	ctx, cancel := context.WithTimeout(ctx, thenDeadline)
	shell, flag := "sh", "-c"
	if _, err := exec.LookPath(shell); err != nil && runtime.GOOS == "windows" {
		shell, flag = "cmd", "/C"
	}
	var output, errors limitedBuffer // not the streams of ctxls: a process that the command leaves running would keep them open
	cmd := exec.CommandContext(ctx, shell, flag, command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.NewSectionReader(payload, 0, payload.Size()), &output, &errors
	cmd.WaitDelay = 100 * time.Millisecond // for processes that it leaves running
	if err := cmd.Start(); err != nil {
		cancel()
		stop()
		return func() {
			a.settings("") // the log
			a.log.Error("the user's own status line", "command", text.Sanitize(command, 200), "error", err)
		}
	}
	return func() {
		defer stop()
		defer cancel()
		if err := cmd.Wait(); err != nil {
			a.settings("") // the log
			a.log.Warn("the user's own status line", "command", text.Sanitize(command, 200), "error", err)
		}
		_, _ = a.stdout.Write(output.Bytes())
		_, _ = a.stderr.Write(errors.Bytes())
	}
}

// limitedBuffer keeps the first maxThenOutput bytes that are written to it.
type limitedBuffer struct{ bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxThenOutput-b.Len())])
	return len(p), nil
}

// columns returns the width of the line: the flag, else $COLUMNS, else 0.
func (a *app) columns(flag int) int {
	if flag > 0 {
		return flag
	}
	n, err := strconv.Atoi(a.getenv("COLUMNS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// colored decides whether to use colors (https://no-color.org). Hosts read the line from a pipe and show its colors, so it does not
// matter whether standard output is a terminal.
func (a *app) colored(when string) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}
