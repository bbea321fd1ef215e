package gemini

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// agentTool is the tool that runs sub-agents. They cannot call it themselves.
const agentTool = "invoke_agent"

// tools are the tools of the host by what their results look like.
var tools = map[string]session.ToolClass{
	"read_file": session.ReadTool, "read_many_files": session.ReadTool,
	"run_shell_command": session.ShellTool,
	"glob":              session.SearchTool, "list_directory": session.SearchTool, "search_file_content": session.SearchTool, "grep_search": session.SearchTool,
	"write_file": session.EditTool, "replace": session.EditTool,
	agentTool: session.AgentTool,
}

// toolPaths returns the files that a tool call works on. Relative ones are resolved, so that one file has one name.
func toolPaths(tool string, input []byte, cwd string) []session.PathUse {
	var file, dir, path, pattern, include, paths, command []byte
	transcript.Pick(input,
		transcript.Field{Name: "file_path", Value: &file},
		transcript.Field{Name: "dir_path", Value: &dir},
		transcript.Field{Name: "path", Value: &path},
		transcript.Field{Name: "pattern", Value: &pattern},
		transcript.Field{Name: "include", Value: &include},
		transcript.Field{Name: "paths", Value: &paths},
		transcript.Field{Name: "command", Value: &command})
	var found []session.PathUse
	add := func(p string, use session.Use) {
		if p, ok := toolpath.File(p, cwd, cwd); ok {
			found = append(found, session.PathUse{Path: p, Use: use})
		}
	}
	plain := func(value []byte, use session.Use) { // a pattern that stands for itself
		if p := transcript.String(value); !strings.ContainsAny(p, "*?[]{}!") {
			add(p, use)
		}
	}
	switch tool {
	case "read_file":
		add(transcript.String(file), session.Read)
		add(transcript.String(path), session.Read) // before 0.10
	case "write_file", "replace":
		add(transcript.String(file), session.Edited)
	case "read_many_files":
		for _, list := range [][]byte{include, paths} {
			transcript.Elements(list, func(p []byte) bool {
				plain(p, session.Read)
				return true
			})
		}
	case "glob":
		add(transcript.String(dir), session.Mentioned)
		add(transcript.String(path), session.Mentioned)
		plain(pattern, session.Mentioned)
	case "grep_search", "search_file_content", "list_directory": // a pattern is an expression there, never a path
		add(transcript.String(dir), session.Mentioned)
		add(transcript.String(path), session.Mentioned)
	case "run_shell_command":
		in := pathname.Join(cwd, transcript.String(dir))
		for _, p := range toolpath.InCommand(transcript.String(command)) {
			if in != "" {
				p = pathname.Join(in, p)
			}
			add(p, session.Mentioned)
		}
	default: // an unknown tool: "path" may mean anything there, so only absolute paths of this machine count
		for _, value := range [][]byte{file, path} {
			if p := transcript.String(value); pathname.IsAbsolute(p) {
				add(p, session.Mentioned)
			}
		}
	}
	return found
}
