// Package toolpath finds the files that tools of agents work on, where every host does it in the same way: it resolves paths and
// reads shell commands. What a host calls its tools and their arguments is the host's own matter.
package toolpath

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
)

// MaxLength is the longest path taken, in bytes (PATH_MAX of Linux); anything longer is no path.
const MaxLength = 4096

// Mentioned turns every use into the lightest: a call that has not run, or failed, only names its files.
func Mentioned(paths []session.PathUse) []session.PathUse {
	for i := range paths {
		paths[i].Use = session.Mentioned
	}
	return paths
}

// File returns the file that a tool of an agent in cwd names, as seen from base, and whether it can be one of the working set: the
// directory itself is none, nor is what is too long.
func File(p, base, cwd string) (file string, ok bool) {
	file = pathname.Join(base, p)
	return file, file != "" && len(file) <= MaxLength && !pathname.SamePath(file, cwd, pathname.IsWindowsPath(cwd))
}

// Uses gathers the files that the calls of an agent in CWD work on.
type Uses struct {
	CWD  string
	List []session.PathUse
}

// Add adds a file as a tool names it; relative ones are resolved.
func (u *Uses) Add(p string, use session.Use) {
	if file, ok := File(p, u.CWD, u.CWD); ok {
		u.List = append(u.List, session.PathUse{Path: file, Use: use})
	}
}

// Command adds the files that a shell command plainly reads; see InCommand.
func (u *Uses) Command(command string) {
	for _, p := range InCommand(command) {
		u.Add(p, session.Mentioned)
	}
}

// Foreign adds what the arguments of an unknown tool name. They may mean anything there, so only absolute paths of this machine
// count.
func (u *Uses) Foreign(values ...string) {
	for _, p := range values {
		if pathname.IsAbsolute(p) {
			u.Add(p, session.Mentioned)
		}
	}
}

// readers are the commands whose plain arguments are files that the model looks at.
var readers = map[string]bool{
	"cat": true, "head": true, "tail": true, "less": true, "more": true, "nl": true, "wc": true,
}

// InCommand returns the files that a shell command plainly reads. It is no shell: commands with quotes, expansions or
// here-documents are left alone, and so is all that follows a change of directory.
func InCommand(command string) []string {
	if len(command) > MaxLength || strings.ContainsAny(command, "'\"`\\$") || strings.Contains(command, "<<") {
		return nil
	}
	var paths []string
	for _, simple := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(";&|\n", r) }) {
		words := strings.Fields(simple)
		if len(words) > 0 && (words[0] == "cd" || words[0] == "pushd") {
			break
		}
		if len(words) == 0 || !readers[words[0]] {
			continue
		}
		for _, word := range words[1:] {
			if strings.ContainsAny(word, "<>") {
				break
			}
			if word[0] != '-' && !strings.ContainsAny(word, "*?[]{}()~!#=") && strings.ContainsAny(word, "./") {
				paths = append(paths, word)
			}
		}
	}
	return paths
}
