package claudecode

import (
	"bytes"
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

// batch returns the files of all calls of a batch, and the calls that are known to have failed. The payload has no mark for that,
// and most failures read like any other result; the transcript tells.
func batch(calls []byte, cwd string) (paths []core.PathUse, results []core.CallResult) {
	transcript.Elements(calls, func(call []byte) bool {
		var tool, input, id, response []byte
		transcript.Pick(call,
			transcript.Field{Name: "tool_name", Value: &tool},
			transcript.Field{Name: "tool_input", Value: &input},
			transcript.Field{Name: "tool_use_id", Value: &id},
			transcript.Field{Name: "tool_response", Value: &response})
		if bytes.HasPrefix(response, []byte(`"<tool_use_error>`)) {
			results = append(results, callResult(id, true)...)
			return true
		}
		paths = append(paths, byCall(transcript.String(id), toolPaths(transcript.String(tool), input, cwd))...)
		return true
	})
	return paths, results
}

// callResult says how the call of that id ended, where it has one.
func callResult(id []byte, failed bool) []core.CallResult {
	if name := transcript.String(id); name != "" {
		return []core.CallResult{{CallID: name, Failed: failed}}
	}
	return nil
}

// byCall names the call that uses files, of which it is not known yet whether it succeeds.
func byCall(id string, paths []core.PathUse) []core.PathUse {
	for i := range paths {
		paths[i].CallID = id
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
