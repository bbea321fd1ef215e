package claudecode

import (
	"path"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/hook/transcript"
)

// maxPath is the longest path taken, in bytes (PATH_MAX of Linux); anything longer is no path.
const maxPath = 4096

// toolPaths returns the files that a tool call works on. Relative ones are resolved, so that one file has one name.
func toolPaths(tool string, input []byte, cwd string) []core.PathUse {
	var file, notebook, dir, pattern, command []byte
	transcript.Pick(input,
		transcript.Field{Name: "file_path", Value: &file},
		transcript.Field{Name: "notebook_path", Value: &notebook},
		transcript.Field{Name: "path", Value: &dir},
		transcript.Field{Name: "pattern", Value: &pattern},
		transcript.Field{Name: "command", Value: &command})
	var paths []core.PathUse
	add := func(p string, use core.Use) {
		if p = absolute(p, cwd); p != "" && p != cwd && len(p) <= maxPath {
			paths = append(paths, core.PathUse{Path: p, Use: use})
		}
	}
	switch tool {
	case "Read", "NotebookRead":
		add(transcript.String(file), core.Read)
		add(transcript.String(notebook), core.Read)
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		add(transcript.String(file), core.Edited)
		add(transcript.String(notebook), core.Edited)
	case "Glob":
		add(transcript.String(dir), core.Mentioned)
		if p := transcript.String(pattern); !strings.ContainsAny(p, "*?[]{}!") {
			add(p, core.Mentioned)
		}
	case "Grep", "LS": // a Grep's pattern is an expression, never a path
		add(transcript.String(dir), core.Mentioned)
	case "Bash":
		for _, p := range shellPaths(transcript.String(command)) {
			add(p, core.Mentioned)
		}
	default: // a tool of somebody else's: "path" may mean anything there, so only what must be a file of this machine
		for _, value := range [][]byte{file, notebook, dir} {
			if p := transcript.String(value); isAbsolute(p) {
				add(p, core.Mentioned)
			}
		}
	}
	return paths
}

// batchPaths returns the files of all calls of a batch.
func batchPaths(calls []byte, cwd string) []core.PathUse {
	var paths []core.PathUse
	transcript.Elements(calls, func(call []byte) bool {
		var tool, input, response []byte
		transcript.Pick(call,
			transcript.Field{Name: "tool_name", Value: &tool},
			transcript.Field{Name: "tool_input", Value: &input},
			transcript.Field{Name: "tool_response", Value: &response})
		used := toolPaths(transcript.String(tool), input, cwd)
		if strings.HasPrefix(string(response[:min(len(response), 32)]), `"<tool_use_error>`) {
			used = mentioned(used)
		}
		paths = append(paths, used...)
		return true
	})
	return paths
}

// mentioned turns every use into the lightest: a call that has not run, or failed, only names its files.
func mentioned(paths []core.PathUse) []core.PathUse {
	for i := range paths {
		paths[i].Use = core.Mentioned
	}
	return paths
}

// absolute resolves p against cwd where both are in the POSIX form; other relative paths stay as they are.
func absolute(p, cwd string) string {
	if p == "" || isAbsolute(p) || !strings.HasPrefix(cwd, "/") {
		return p
	}
	return path.Join(cwd, p)
}

// isAbsolute knows the forms of every system: a payload may come from another than this one.
func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\\`) ||
		len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// readers are the commands whose plain arguments are files that the model looks at.
var readers = map[string]bool{
	"cat": true, "head": true, "tail": true, "less": true, "more": true, "nl": true, "wc": true,
}

// shellPaths returns the files that a shell command plainly reads. It is no shell: commands with quotes, expansions or
// here-documents are left alone, and so is all that follows a change of directory.
func shellPaths(command string) []string {
	if len(command) > maxPath || strings.ContainsAny(command, "'\"`\\$") || strings.Contains(command, "<<") {
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
