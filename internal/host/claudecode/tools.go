package claudecode

import (
	"bytes"
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// tools are the tools of the host by what their results look like.
var tools = map[string]session.ToolClass{
	"Read": session.ReadTool, "NotebookRead": session.ReadTool,
	"Bash": session.ShellTool, "BashOutput": session.ShellTool,
	"Grep": session.SearchTool, "Glob": session.SearchTool, "LS": session.SearchTool,
	"Edit": session.EditTool, "MultiEdit": session.EditTool, "Write": session.EditTool, "NotebookEdit": session.EditTool,
	"Task": session.AgentTool, "Agent": session.AgentTool,
}

// toolPaths returns the files that a tool call works on. Relative ones are resolved, so that one file has one name.
func toolPaths(tool string, input []byte, cwd string) []session.PathUse {
	var file, notebook, dir, pattern, command []byte
	transcript.Pick(input,
		transcript.Field{Name: "file_path", Value: &file},
		transcript.Field{Name: "notebook_path", Value: &notebook},
		transcript.Field{Name: "path", Value: &dir},
		transcript.Field{Name: "pattern", Value: &pattern},
		transcript.Field{Name: "command", Value: &command})
	var paths []session.PathUse
	add := func(p string, use session.Use) {
		if p, ok := toolpath.File(p, cwd, cwd); ok {
			paths = append(paths, session.PathUse{Path: p, Use: use})
		}
	}
	switch tool {
	case "Read", "NotebookRead":
		add(transcript.String(file), session.Read)
		add(transcript.String(notebook), session.Read)
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		add(transcript.String(file), session.Edited)
		add(transcript.String(notebook), session.Edited)
	case "Glob":
		add(transcript.String(dir), session.Mentioned)
		if p := transcript.String(pattern); !strings.ContainsAny(p, "*?[]{}!") {
			add(p, session.Mentioned)
		}
	case "Grep", "LS": // a Grep's pattern is an expression, never a path
		add(transcript.String(dir), session.Mentioned)
	case "Bash":
		for _, p := range toolpath.InCommand(transcript.String(command)) {
			add(p, session.Mentioned)
		}
	default: // an unknown tool: "path" may mean anything there, so only absolute paths of this machine count
		for _, value := range [][]byte{file, notebook, dir} {
			if p := transcript.String(value); pathname.IsAbsolute(p) {
				add(p, session.Mentioned)
			}
		}
	}
	return paths
}

// batch returns the files of all calls of a batch, and the calls that are known to have failed. The payload has no mark for that,
// and most failures read like any other result; the transcript tells.
func batch(calls []byte, cwd string) (paths []session.PathUse, results []session.CallResult) {
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
func callResult(id []byte, failed bool) []session.CallResult {
	if name := transcript.String(id); name != "" {
		return []session.CallResult{{CallID: name, Failed: failed}}
	}
	return nil
}

// byCall names the call that uses files, of which it is not known yet whether it succeeds.
func byCall(id string, paths []session.PathUse) []session.PathUse {
	for i := range paths {
		paths[i].CallID = id
	}
	return paths
}
