// Package toolpath finds the files that tools of agents work on, as far as all hosts do it in the same way: it resolves paths and reads
// shell commands. Names of tools and their arguments belong to each host.
package toolpath

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
)

// MaxLength is the longest accepted path, in bytes (PATH_MAX of Linux). Longer strings are no paths.
const MaxLength = 4096

// Mentioned changes every use to the lightest: a call that has not run, or failed, only names its files.
func Mentioned(paths []session.PathUse) []session.PathUse {
	for i := range paths {
		paths[i].Use = session.Mentioned
	}
	return paths
}

// File returns the file that a tool names, seen from base, and whether it can be in the working set. The agent works in cwd. The
// directory itself and a path that is too long cannot be.
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

// InCommand returns the files that a shell command clearly reads. It is no shell: it ignores commands with quotes, expansions or
// here-documents, and everything after a change of directory.
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
