package settings

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Invocation is the way in which a host runs a program: with a list of arguments, or, if Args is nil, as one line for a shell.
type Invocation struct {
	Command string
	Args    []string
	Name    string // by which the host shows the hook to people; "" where it has no names
	Shell   string // in which the host is to run the line; "" for the one that it chooses itself
}

// guard runs a program and always ends with status 0. Hosts take status 2 for a veto. Go's runtime ends a process with that status
// before main if memory or threads are limited, which the program cannot prevent. The trap is for a shell that cannot start the program
// at all, where dash ends with 2. The last exit keeps shells from replacing themselves by the program.
const guard = `trap "exit 0" 0; "$0" "$@"; exit 0`

// posixShell runs guard.
const posixShell = "/bin/sh"

// Direct is the invocation of ctxls for hosts that need no shell for hooks. On Windows, and if executable is a name on the PATH as in a
// plugin for every system, it is ctxls itself, without the guard.
func Direct(host session.Host, executable string) Invocation {
	if _, windows := onWindows(executable); windows || !strings.HasPrefix(executable, "/") {
		return Invocation{Command: executable, Args: []string{"hook", string(host)}}
	}
	return Invocation{Command: posixShell, Args: []string{"-c", guard, executable, "hook", string(host)}}
}

// Shell is the invocation of ctxls for hosts that run hooks in a shell: the user's shell, on Windows PowerShell or cmd.exe.
func Shell(host session.Host, executable string) Invocation {
	prefix := guardPrefix
	if _, windows := onWindows(executable); windows {
		prefix = ""
	}
	return Invocation{Command: prefix + quote(executable) + " hook " + string(host)}
}

// Exec is the invocation of ctxls for hosts that run their hooks with bash, or with PowerShell on Windows. If the program is gone, bash
// reports it on standard error, which Gemini CLI shows; so standard error is dropped. At a timeout the host ends bash alone, and waits
// for the program that holds the hook's output open. So the program runs in the background, and bash forwards the signal to it.
func Exec(host session.Host, executable string) Invocation {
	run := Invocation{Command: trapPrefix + quote(executable) + " hook " + string(host) + trapSuffix, Name: "ctxls"}
	if path, ok := onWindows(executable); ok { // there the host ends everything that a hook started
		run.Command = forPowerShell(path, host)
	}
	return run
}

// ShellNamed is the invocation of ctxls for hosts that run a hook in the shell that it names. On Windows it names PowerShell, since such
// hosts use the shell that they were started from, and no line with a path works in cmd.exe, PowerShell and Git Bash.
func ShellNamed(host session.Host, executable string) Invocation {
	if path, ok := onWindows(executable); ok {
		return Invocation{Command: forPowerShell(path, host), Shell: "powershell"}
	}
	return Shell(host, executable)
}

func forPowerShell(path string, host session.Host) string {
	return callPrefix + "'" + strings.ReplaceAll(path, "'", "''") + "' hook " + string(host)
}

// What Exec puts around a line for bash, and before one for PowerShell; and what Shell puts before a line, and before a quoted path on
// Windows. Older versions have put execPrefix and execSuffix around a line for bash.
const (
	trapPrefix, trapSuffix = `trap "exit 0" 0; `, ` <&0 2>/dev/null & trap "kill $! 2>/dev/null" 15; wait $!; exit 0`
	execPrefix, execSuffix = "exec ", " 2>/dev/null"
	guardPrefix            = posixShell + " -c '" + guard + "' "
	callPrefix, cmdPrefix  = "& ", "cmd /d /c "
)

// withoutExec removes what Exec or Shell put around a line for a shell.
func withoutExec(line string) string {
	if line, ok := strings.CutPrefix(line, execPrefix); ok {
		return strings.TrimSuffix(line, execSuffix)
	}
	if line, ok := strings.CutPrefix(line, trapPrefix); ok {
		return strings.TrimSuffix(line, trapSuffix)
	}
	if line, ok := strings.CutPrefix(line, guardPrefix); ok {
		return line
	}
	return strings.TrimPrefix(strings.TrimPrefix(line, callPrefix), cmdPrefix)
}

// ownArgs returns the program that a command with a list of arguments runs as ctxls' hook for a host, with or without the guard.
func ownArgs(command string, args []string, host session.Host) (program string, own bool) {
	if len(args) == 5 && args[0] == "-c" && IsOwn(args[2]) {
		command, args = args[2], args[3:]
	}
	return command, IsOwn(command) && len(args) == 2 && args[0] == "hook" && args[1] == string(host)
}

// onWindows returns a Windows path with backslashes, since cmd.exe takes the text after a slash for an option.
func onWindows(executable string) (path string, ok bool) {
	if !pathname.IsWindowsPath(executable) && !strings.HasPrefix(executable, "//") {
		return executable, false
	}
	return pathname.Native(executable, true), true
}

// plain are the characters without a special meaning in every shell.
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

// blanks are the characters that end or change a word in a Windows shell and may occur in a path.
const blanks = " &()^;,=@{}'`$"

// Runnable reports whether the shells of Windows can be told to run a program: of a path with one of these characters cmd.exe takes
// the quotes away, or PowerShell reads them as its own.
func Runnable(executable string) bool {
	path, ok := onWindows(executable)
	return !ok || !strings.ContainsAny(path, "&()^@$`")
}

// replaces reports whether an entry of ours is of the same form, so that it can be put right. A line in which something stands
// before the program, such as a variable, was written by a user on purpose.
func (run Invocation) replaces(command string, args bool) bool {
	if args || run.Args != nil {
		return args && run.Args != nil
	}
	command = withoutExec(command)
	return strings.HasPrefix(command, "'") || strings.HasPrefix(command, `"`) || strings.Count(command, " ") == 2
}
