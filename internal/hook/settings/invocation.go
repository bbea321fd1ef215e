package settings

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core"
)

// Invocation is how a host is told to run a program: with arguments as a list, or, where Args is nil, as one line for a shell.
type Invocation struct {
	Command string
	Args    []string
	Name    string // by which the host shows the hook to people; "" where it has no names
}

// Direct is the invocation of ctxls for hosts that need no shell to run a hook.
func Direct(host core.Host, executable string) Invocation {
	return Invocation{Command: executable, Args: []string{"hook", string(host)}}
}

// Shell is the invocation of ctxls for hosts that hand their hooks to a shell: that of the user, or cmd.exe.
func Shell(host core.Host, executable string) Invocation {
	return Invocation{Command: quote(executable) + " hook " + string(host)}
}

// Exec is the invocation of ctxls for hosts that hand their hooks to bash, or to PowerShell on Windows, and that end the shell
// alone where a hook takes too long: ctxls takes its place, so that nothing is left which holds the hook's output open. Where no
// program lies any more, bash ends with 127, which Gemini CLI takes for a veto if anything was said with it; so nothing is.
func Exec(host core.Host, executable string) Invocation {
	run := Invocation{Command: execPrefix + quote(executable) + " hook " + string(host) + execSuffix, Name: "ctxls"}
	if isWindowsPath(executable) { // there the host ends everything that a hook started
		path := strings.ReplaceAll(executable, "/", `\`)
		run.Command = callPrefix + "'" + strings.ReplaceAll(path, "'", "''") + "' hook " + string(host)
	}
	return run
}

// What Exec puts around a line for bash, and before one for PowerShell.
const execPrefix, execSuffix, callPrefix = "exec ", " 2>/dev/null", "& "

// withoutExec returns a line for a shell without what Exec put around it.
func withoutExec(line string) string {
	if line, ok := strings.CutPrefix(line, execPrefix); ok {
		return strings.TrimSuffix(line, execSuffix)
	}
	return strings.TrimPrefix(line, callPrefix)
}

func isWindowsPath(path string) bool { return len(path) > 1 && path[1] == ':' }

// quote returns a program's path as a word for a shell. A Windows path has its backslashes, since cmd.exe takes what follows a
// slash for an option.
func quote(executable string) string {
	if isWindowsPath(executable) {
		executable = strings.ReplaceAll(executable, "/", `\`)
		if strings.ContainsAny(executable, " &()^;,=") {
			return `"` + executable + `"`
		}
		return executable
	}
	if strings.Trim(executable, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%:,") == "" {
		return executable
	}
	return "'" + strings.ReplaceAll(executable, "'", `'\''`) + "'"
}

// replaces reports whether an entry of ours is of the same form, so that it can be put right. A line in which something stands
// before the program, such as a variable, was written by somebody who means it.
func (run Invocation) replaces(command string, args bool) bool {
	if args || run.Args != nil {
		return args && run.Args != nil
	}
	command = withoutExec(command)
	return strings.HasPrefix(command, "'") || strings.HasPrefix(command, `"`) || strings.Count(command, " ") == 2
}
