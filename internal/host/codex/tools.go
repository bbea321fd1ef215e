package codex

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// tools are the tools of the host by what their results look like.
var tools = map[string]session.ToolClass{
	"Bash": session.ShellTool, "shell": session.ShellTool, "exec_command": session.ShellTool,
	"apply_patch": session.EditTool,
}

// toolPaths returns the files that a tool call works on, by what a hook is told of it: "Bash" stands for every way to run a
// command, and MCP tools are called mcp__SERVER__TOOL.
func toolPaths(tool string, input []byte, cwd string) (paths []session.PathUse) {
	var command, file, filePath []byte
	transcript.Pick(input,
		transcript.Field{Name: "command", Value: &command},
		transcript.Field{Name: "path", Value: &file},
		transcript.Field{Name: "file_path", Value: &filePath})
	switch tool {
	case "apply_patch":
		for _, p := range patched(transcript.String(command)) {
			paths = add(paths, p, session.Edited, cwd)
		}
	case "Bash":
		for _, p := range toolpath.InCommand(transcript.String(command)) {
			paths = add(paths, p, session.Mentioned, cwd)
		}
	case "view_image":
		paths = add(paths, transcript.String(file), session.Read, cwd)
	default:
		paths = foreign(paths, file, filePath)
	}
	return paths
}

// foreign returns the files that an unknown tool names. "path" may mean anything there, so only absolute paths count.
func foreign(paths []session.PathUse, values ...[]byte) []session.PathUse {
	for _, value := range values {
		if p := transcript.String(value); pathname.IsAbsolute(p) {
			paths = add(paths, p, session.Mentioned, "")
		}
	}
	return paths
}

// add appends a path, resolved so that one file has one name.
func add(paths []session.PathUse, p string, use session.Use, cwd string) []session.PathUse {
	if p, ok := toolpath.File(p, cwd, cwd); ok {
		return append(paths, session.PathUse{Path: p, Use: use})
	}
	return paths
}

// patched returns the files that a patch leaves changed. A line that names one begins with one of these words, which no line of
// content does: those begin with a blank, a plus or a minus.
func patched(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		for _, word := range []string{"*** Add File: ", "*** Update File: ", "*** Move to: "} {
			p, ok := strings.CutPrefix(line, word)
			if ok && word == "*** Move to: " && len(paths) > 0 {
				paths = paths[:len(paths)-1] // the file is there no more by its former name
			}
			if ok {
				paths = append(paths, strings.TrimSpace(p))
			}
		}
	}
	return paths
}

// itemPaths returns the files that something which the host did works on, as the rollout tells of it once it is done. This is
// better than what the call says: Codex has taken commands apart by then, knows where they ran, and tells what did not work;
// and calls that a program of the model's made ("code mode") stand nowhere else.
func itemPaths(item []byte) (paths []session.PathUse) {
	var kind, cwd, commands, changes, file, arguments, status []byte
	transcript.Pick(item,
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "cwd", Value: &cwd},
		transcript.Field{Name: "parsed_cmd", Value: &commands},
		transcript.Field{Name: "changes", Value: &changes},
		transcript.Field{Name: "path", Value: &file},
		transcript.Field{Name: "arguments", Value: &arguments},
		transcript.Field{Name: "status", Value: &status})
	switch transcript.String(kind) {
	case "CommandExecution":
		paths = commandPaths(commands, fromURI(transcript.String(cwd)))
	case "FileChange":
		paths = changedPaths(changes)
	case "ImageView":
		paths = add(paths, fromURI(transcript.String(file)), session.Read, "")
	case "McpToolCall":
		transcript.Pick(arguments,
			transcript.Field{Name: "path", Value: &file},
			transcript.Field{Name: "file_path", Value: &cwd})
		paths = foreign(paths, file, cwd)
	}
	if s := transcript.String(status); s == "" || s == "completed" {
		return paths
	}
	if transcript.String(kind) == "FileChange" {
		return nil // nothing was changed
	}
	return toolpath.Mentioned(paths) // of a command that ended with an error, a part may have worked
}

// commandPaths returns the files that a command reads or searches, by the host's own understanding of it.
func commandPaths(commands []byte, cwd string) (paths []session.PathUse) {
	transcript.Elements(commands, func(command []byte) bool {
		var kind, file []byte
		transcript.Pick(command, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "path", Value: &file})
		switch transcript.String(kind) {
		case "read":
			paths = add(paths, transcript.String(file), session.Read, cwd)
		case "search", "list_files":
			paths = add(paths, transcript.String(file), session.Mentioned, cwd)
		}
		return true
	})
	return paths
}

// changedPaths returns the files that a patch changed, under the names that they have now.
func changedPaths(changes []byte) (paths []session.PathUse) {
	transcript.Members(changes, func(key, change []byte) bool {
		var kind, moved []byte
		transcript.Pick(change, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "move_path", Value: &moved})
		p, use := transcript.String([]byte(`"`+string(key)+`"`)), session.Edited
		if to := transcript.String(moved); to != "" {
			p = to
		}
		if transcript.String(kind) == "delete" {
			use = session.Mentioned
		}
		paths = add(paths, p, use, "")
		return true
	})
	return paths
}

// fromURI returns the path of a file URI, as which the rollout writes some; anything else is returned as it is.
func fromURI(s string) string {
	if !strings.HasPrefix(s, "file://") {
		return s
	}
	p, err := pathname.OfAnyURI(s)
	if err != nil {
		return ""
	}
	return p
}
