package settings

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Invocation is how a host is told to run a program: with arguments as a list, or, where Args is nil, as one line for a shell.
type Invocation struct {
	Command string
	Args    []string
	Name    string // by which the host shows the hook to people; "" where it has no names
}

// Direct is the invocation of ctxls for hosts that need no shell to run a hook.
func Direct(host session.Host, executable string) Invocation {
	return Invocation{Command: executable, Args: []string{"hook", string(host)}}
}

// Shell is the invocation of ctxls for hosts that hand their hooks to a shell: that of the user, on Windows PowerShell or cmd.exe.
func Shell(host session.Host, executable string) Invocation {
	return Invocation{Command: quote(executable) + " hook " + string(host)}
}

// Exec is the invocation of ctxls for hosts that hand their hooks to bash, or to PowerShell on Windows, and that end the shell
// alone where a hook takes too long: ctxls takes its place, so that nothing is left which holds the hook's output open. Where no
// program lies any more, bash ends with 127, which Gemini CLI takes for a veto if anything was said with it; so nothing is.
func Exec(host session.Host, executable string) Invocation {
	run := Invocation{Command: execPrefix + quote(executable) + " hook " + string(host) + execSuffix, Name: "ctxls"}
	if path, ok := onWindows(executable); ok { // there the host ends everything that a hook started
		run.Command = callPrefix + "'" + strings.ReplaceAll(path, "'", "''") + "' hook " + string(host)
	}
	return run
}

// What Exec puts around a line for bash, and before one for PowerShell; and what Shell puts before a quoted path on Windows.
const execPrefix, execSuffix, callPrefix, cmdPrefix = "exec ", " 2>/dev/null", "& ", "cmd /d /c "

// withoutExec returns a line for a shell without what Exec or Shell put around it.
func withoutExec(line string) string {
	if line, ok := strings.CutPrefix(line, execPrefix); ok {
		return strings.TrimSuffix(line, execSuffix)
	}
	return strings.TrimPrefix(strings.TrimPrefix(line, callPrefix), cmdPrefix)
}

// onWindows returns a program's path with backslashes where it is one of Windows: cmd.exe takes what follows a slash for an option.
func onWindows(executable string) (path string, ok bool) {
	if !pathname.IsWindowsPath(executable) && !strings.HasPrefix(executable, "//") {
		return executable, false
	}
	return pathname.Native(executable, true), true
}

// plain are the characters that no shell gives a meaning, in any place.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%:,"

// quote returns a program's path as a word for a shell. On Windows the shell may be cmd.exe or PowerShell. A path alone they read
// alike. One in quotes is a text to PowerShell, which it prints, so cmd.exe is started for it: of exactly two quotes around the
// name of a program it takes none away.
func quote(executable string) string {
	if path, ok := onWindows(executable); ok {
		if strings.ContainsAny(path, blanks) {
			return cmdPrefix + `"` + path + `"`
		}
		return path
	}
	if strings.Trim(executable, plain) == "" {
		return executable
	}
	return "'" + strings.ReplaceAll(executable, "'", `'\''`) + "'"
}

// blanks are what ends or changes a word in one of the shells of Windows, and may stand in a path.
const blanks = " &()^;,=@{}'`$"

// Runnable reports whether the shells of Windows can be told to run a program: of a path with one of these characters cmd.exe takes
// the quotes away, or PowerShell reads them as its own.
func Runnable(executable string) bool {
	path, ok := onWindows(executable)
	return !ok || !strings.ContainsAny(path, "&()^@$`")
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
