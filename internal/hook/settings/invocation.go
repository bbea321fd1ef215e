package settings

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core"
)

// Invocation is how a host is told to run a program: with arguments as a list, or, where Args is nil, as one line for a shell.
type Invocation struct {
	Command string
	Args    []string
}

// Direct is the invocation of ctxls for hosts that need no shell to run a hook.
func Direct(host core.Host, executable string) Invocation {
	return Invocation{executable, []string{"hook", string(host)}}
}

// Shell is the invocation of ctxls for hosts that hand their hooks to a shell: that of the user, or cmd.exe.
func Shell(host core.Host, executable string) Invocation {
	return Invocation{Command: quote(executable) + " hook " + string(host)}
}

// quote returns a program's path as a word for a shell. A Windows path has its backslashes, since cmd.exe takes what follows a
// slash for an option.
func quote(executable string) string {
	if len(executable) > 1 && executable[1] == ':' {
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
	return strings.HasPrefix(command, "'") || strings.HasPrefix(command, `"`) || strings.Count(command, " ") == 2
}
