package opencode

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// tools are the tools of the host by what their results look like.
var tools = map[string]session.ToolClass{
	"read": session.ReadTool,
	"bash": session.ShellTool,
	"grep": session.SearchTool, "glob": session.SearchTool, "list": session.SearchTool,
	"edit": session.EditTool, "write": session.EditTool, "multiedit": session.EditTool, "patch": session.EditTool, "apply_patch": session.EditTool,
	"task": session.AgentTool,
}

// toolPaths returns the files that a tool call works on. Relative ones are resolved, so that one file has one name.
func toolPaths(tool string, args []byte, cwd string) []session.PathUse {
	var file, dir, pattern, command, workdir, patch []byte
	transcript.Pick(args,
		transcript.Field{Name: "filePath", Value: &file},
		transcript.Field{Name: "path", Value: &dir},
		transcript.Field{Name: "pattern", Value: &pattern},
		transcript.Field{Name: "command", Value: &command},
		transcript.Field{Name: "workdir", Value: &workdir},
		transcript.Field{Name: "patchText", Value: &patch})
	var paths []session.PathUse
	add := func(p, base string, use session.Use) {
		if p, ok := toolpath.File(p, base, cwd); ok {
			paths = append(paths, session.PathUse{Path: p, Use: use})
		}
	}
	switch tool {
	case "read":
		add(transcript.String(file), cwd, session.Read)
	case "edit", "write", "multiedit":
		add(transcript.String(file), cwd, session.Edited)
	case "patch", "apply_patch":
		for _, p := range inPatch(transcript.String(patch)) {
			add(p, cwd, session.Edited)
		}
	case "glob":
		add(transcript.String(dir), cwd, session.Mentioned)
		if p := transcript.String(pattern); !strings.ContainsAny(p, "*?[]{}!") {
			add(p, pathname.Join(cwd, transcript.String(dir)), session.Mentioned)
		}
	case "grep", "list": // the pattern of a grep is an expression, never a path
		add(transcript.String(dir), cwd, session.Mentioned)
	case "bash":
		base := cwd
		if dir := transcript.String(workdir); dir != "" {
			base = pathname.Join(cwd, dir)
		}
		for _, p := range toolpath.InCommand(transcript.String(command)) {
			add(p, base, session.Mentioned)
		}
	default: // an unknown tool: "path" may mean anything there, so only absolute paths of this machine count
		for _, value := range [][]byte{file, dir} {
			if p := transcript.String(value); pathname.IsAbsolute(p) {
				add(p, cwd, session.Mentioned)
			}
		}
	}
	return paths
}

// partPaths returns the files of the calls among the parts of a message that succeeded.
func partPaths(parts []byte, cwd string) (paths []session.PathUse) {
	transcript.Elements(parts, func(data []byte) bool {
		var p part
		p.read(data)
		if transcript.String(p.kind) != "tool" {
			return true
		}
		var input, status []byte
		transcript.Pick(p.state, transcript.Field{Name: "input", Value: &input}, transcript.Field{Name: "status", Value: &status})
		if transcript.String(status) == "completed" {
			paths = append(paths, toolPaths(transcript.String(p.tool), input, cwd)...)
		}
		return true
	})
	return paths
}

// patchHeads begin the lines of a patch that name a file.
var patchHeads = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}

// maxPatched is how many files are taken from one patch.
const maxPatched = 100

// inPatch returns the files that a patch names.
func inPatch(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, head := range patchHeads {
			if p, ok := strings.CutPrefix(line, head); ok && len(paths) < maxPatched {
				paths = append(paths, strings.TrimSpace(p))
			}
		}
	}
	return paths
}
