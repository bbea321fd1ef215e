package claudecode

import (
	"bytes"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

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
		if p, ok := toolpath.File(p, cwd, cwd); ok {
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
		for _, p := range toolpath.InCommand(transcript.String(command)) {
			add(p, core.Mentioned)
		}
	default: // a tool of somebody else's: "path" may mean anything there, so only what must be a file of this machine
		for _, value := range [][]byte{file, notebook, dir} {
			if p := transcript.String(value); core.IsAbsolute(p) {
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
