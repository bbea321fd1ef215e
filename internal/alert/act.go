package alert

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

const (
	// commandDeadline bounds the user's command, and notifyDeadline the program that shows a notification.
	commandDeadline, notifyDeadline = 30 * time.Second, 10 * time.Second
	// maxSaid bounds what is logged of what they print, in characters.
	maxSaid = 300
)

// Actor runs the user's command and shows notifications.
type Actor struct {
	Config func() settings.AlertsConfig
	Dir    string // where commands run: the home directory, never a project
	// System is runtime.GOOS; Look finds programs, as exec.LookPath does.
	System string
	Look   func(name string) (string, error)
}

// NewActor returns an actor of this machine.
func NewActor(config func() settings.AlertsConfig, dir string) Actor {
	return Actor{Config: config, Dir: dir, System: runtime.GOOS, Look: exec.LookPath}
}

// Act runs the command and shows the notification, as the settings say. If one fails, the other is done all the same.
func (a Actor) Act(ctx context.Context, alert Alert) error {
	cfg := a.Config()
	var problems []string
	if cfg.Command != "" {
		payload, err := json.Marshal(alert)
		if err != nil {
			return err
		}
		shell, flag := "sh", "-c"
		if a.System == "windows" {
			if _, err := a.Look(shell); err != nil {
				shell, flag = "cmd", "/C"
			}
		}
		if err := a.run(ctx, commandDeadline, payload, shell, flag, cfg.Command); err != nil {
			problems = append(problems, "alerts.command: "+err.Error())
		}
	}
	if cfg.Notify {
		program, args := notifier(a.System, alert.Text)
		if err := a.run(ctx, notifyDeadline, nil, program, args...); err != nil {
			problems = append(problems, "alerts.notify: "+err.Error())
		}
	}
	if problems != nil {
		return fmt.Errorf("%s", strings.Join(problems, "; "))
	}
	return nil
}

// run runs a program to its end, and returns what went wrong with what it printed.
func (a Actor) run(ctx context.Context, deadline time.Duration, stdin []byte, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	path, err := a.Look(program)
	if err != nil {
		return fmt.Errorf("there is no %s on the PATH", program)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = a.Dir, bytes.NewReader(stdin), 100*time.Millisecond
	var said limited
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("not done within %v", deadline)
		}
		return fmt.Errorf("%w: %s", err, text.Sanitize(string(said), maxSaid))
	}
	return nil
}

// limited keeps the first maxSaid bytes that are written to it.
type limited []byte

func (l *limited) Write(p []byte) (int, error) {
	*l = append(*l, p[:min(len(p), maxSaid-len(*l))]...)
	return len(p), nil
}

// notifier returns the program that shows a text as a notification of the desktop. The text is never part of a script.
func notifier(system, text string) (program string, args []string) {
	switch system {
	case "darwin":
		return "osascript", []string{"-e", "on run argv", "-e", `display notification (item 1 of argv) with title "ctxls"`, "-e", "end run", text}
	case "windows":
		return "powershell", []string{"-NoProfile", "-NonInteractive", "-Command", "& {" + toast + "}", quotePowerShell(text)}
	}
	return "notify-send", []string{"--app-name=ctxls", "--", "ctxls", text}
}

// toast shows its argument as a toast of Windows 10 and later, under the name of PowerShell: a name of its own needs a shortcut in the
// start menu.
const toast = `param($text)
[Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime] | Out-Null
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$lines = $xml.GetElementsByTagName("text")
$lines.Item(0).AppendChild($xml.CreateTextNode("ctxls")) | Out-Null
$lines.Item(1).AppendChild($xml.CreateTextNode($text)) | Out-Null
$id = "{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe"
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($id).Show([Windows.UI.Notifications.ToastNotification]::new($xml))`

// quotePowerShell returns a text as a literal: PowerShell joins the arguments after -Command to a script, and reads five characters
// as the quote.
func quotePowerShell(text string) string {
	return "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(text) + "'"
}

// sentence says for people what happened in a session.
func sentence(trigger string, view core.SessionView) string {
	name := cmp.Or(view.Title, filepath.Base(filepath.ToSlash(view.CWD)), string(view.Host))
	u := view.Usage
	what := "how full the context window is, is not known"
	switch {
	case trigger == "compaction":
		what = "the host compacted the conversation"
	case u.Display.Percent != nil:
		what = fmt.Sprintf("%d%% of the context window is in use", *u.Display.Percent)
		if u.ToCompaction != nil {
			what += fmt.Sprintf(", %dk tokens to compaction", (*u.ToCompaction+500)/1000)
		}
	}
	return text.Sanitize(fmt.Sprintf("%s (%s): %s", name, view.Host, what), text.MaxLabel)
}

func fleetSentence(a fleet.Alert) string {
	return fmt.Sprintf("%.0f%% of the last %d tasks exceeded the token threshold", a.Rate*100, a.Tasks)
}
