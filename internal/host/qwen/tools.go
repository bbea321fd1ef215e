package qwen

import (
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// tools are the tools of the host by what their results look like.
var tools = map[string]session.ToolClass{
	"read_file": session.ReadTool, "read_many_files": session.ReadTool, "run_shell_command": session.ShellTool,
	"glob": session.SearchTool, "grep_search": session.SearchTool, "list_directory": session.SearchTool,
	"edit": session.EditTool, "write_file": session.EditTool, "notebook_edit": session.EditTool, "agent": session.AgentTool,
}

// toolPaths returns the files that a tool call works on. Relative ones are resolved, so that one file has one name.
func toolPaths(tool string, input []byte, cwd string) []session.PathUse {
	var file, path, command []byte
	transcript.Pick(input,
		transcript.Field{Name: "file_path", Value: &file},
		transcript.Field{Name: "path", Value: &path},
		transcript.Field{Name: "command", Value: &command})
	in := toolpath.Uses{CWD: cwd}
	switch tool {
	case "read_file":
		in.Add(transcript.String(file), session.Read)
	case "edit", "write_file":
		in.Add(transcript.String(file), session.Edited)
	case "glob", "grep_search", "list_directory": // a pattern is an expression there, never a path
		in.Add(transcript.String(path), session.Mentioned)
	case "run_shell_command":
		in.Command(transcript.String(command))
	default: // an unknown tool: "path" may mean anything there, so only absolute paths of this machine count
		in.Foreign(transcript.String(file), transcript.String(path))
	}
	return in.List
}

// callPaths returns the files of a call that is named, of which it is not known yet whether it succeeds.
func callPaths(id, tool string, input []byte, cwd string) []session.PathUse {
	paths := toolPaths(tool, input, cwd)
	for i := range paths {
		paths[i].CallID = id
	}
	return paths
}
