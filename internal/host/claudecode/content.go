package claudecode

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// exitPlan is the tool whose argument, a plan, is on file and not sent back.
const exitPlan = "ExitPlanMode"

// unsent are attachments that are on file and no part of what the model is sent for a turn: the system prompt, which every
// request carries anyway.
var unsent = map[string]bool{"prompt_snapshot": true}

// Tokens that the host's own words around some content cost, measured in sessions of Claude Code 2.1.43 to 2.1.237.
const (
	editedFileTokens   = 80    // the notice that the user or a program changed a file
	taskReminderTokens = 140   // the reminder to keep the task list
	toolLoadedTokens   = 1_100 // the definitions that a result brings which loads tools (1,000 to 1,228)
)

// attached returns what an attachment adds: the text that the host made of it, where the version of the host writes that
// down, else the text of the attachment itself.
func (l *line) attached() []session.Piece {
	var kind []byte
	transcript.Pick(l.attachment, transcript.Field{Name: "type", Value: &kind})
	name := transcript.String(kind)
	if unsent[name] {
		return nil
	}
	class, file := session.InjectedText, "" // of a queued command, too: what is typed while a turn runs ends none
	var pieces []session.Piece
	switch name {
	case "instructions":
		if pieces = l.instructions(); pieces != nil {
			return pieces
		}
		class = session.MemoryText
	case "nested_memory":
		class, file = session.MemoryText, l.attachedFile("path")
	default:
		file = l.attachedFile("filename")
	}
	transcript.Elements(l.rendered, func(block []byte) bool {
		var content []byte
		transcript.Pick(block, transcript.Field{Name: "content", Value: &content})
		pieces = append(pieces, texts(content, class)...)
		return true
	})
	if l.rendered == nil {
		pieces = l.unrendered(name, class)
	}
	for i := range pieces {
		pieces[i].Path = file
	}
	return pieces
}

// unrendered returns what an attachment adds where the host did not write down the text that it made of it.
func (l *line) unrendered(name string, class session.PieceClass) []session.Piece {
	var text, snippet, prompt, content, files, blocking []byte
	transcript.Pick(l.attachment,
		transcript.Field{Name: "text", Value: &text},
		transcript.Field{Name: "snippet", Value: &snippet},
		transcript.Field{Name: "prompt", Value: &prompt},
		transcript.Field{Name: "content", Value: &content},
		transcript.Field{Name: "files", Value: &files},
		transcript.Field{Name: "blockingError", Value: &blocking})
	switch name {
	case "edited_text_file":
		return []session.Piece{{Class: class, Text: transcript.String(snippet), Extra: editedFileTokens}}
	case "queued_command":
		return texts(prompt, class)
	case "file": // one that a prompt mentions: the host reads it for the model
		var file, body []byte
		transcript.Pick(content, transcript.Field{Name: "file", Value: &file})
		transcript.Pick(file, transcript.Field{Name: "content", Value: &body})
		return texts(body, class)
	case "diagnostics":
		return []session.Piece{{Class: class, Text: diagnosticsText(files)}}
	case "task_reminder", "todo_reminder":
		return []session.Piece{{Class: class, Text: listText(content), Extra: taskReminderTokens}}
	case "hook_additional_context":
		return texts(content, class)
	case "nested_memory":
		var body []byte
		transcript.Pick(content, transcript.Field{Name: "content", Value: &body})
		return texts(body, class)
	case "hook_blocking_error":
		var message []byte
		if !transcript.Pick(blocking, transcript.Field{Name: "blockingError", Value: &message}) {
			message = blocking
		}
		return texts(message, class)
	}
	return texts(text, class)
}

// diagnosticsText returns the diagnostics of files much as the host sends them: a line for a file, and one for each finding.
func diagnosticsText(files []byte) string {
	var text strings.Builder
	transcript.Elements(files, func(file []byte) bool {
		var uri, found []byte
		transcript.Pick(file, transcript.Field{Name: "uri", Value: &uri}, transcript.Field{Name: "diagnostics", Value: &found})
		text.WriteString(transcript.String(uri) + ":\n")
		transcript.Elements(found, func(one []byte) bool {
			var message, severity, code, source []byte
			transcript.Pick(one,
				transcript.Field{Name: "message", Value: &message},
				transcript.Field{Name: "severity", Value: &severity},
				transcript.Field{Name: "code", Value: &code},
				transcript.Field{Name: "source", Value: &source})
			for _, part := range [][]byte{severity, message, code, source} {
				text.WriteString("  " + transcript.String(part))
			}
			text.WriteString("\n")
			return true
		})
		return true
	})
	return text.String()
}

// listText returns a list as the host sends it along, "" for an empty one.
func listText(list []byte) string {
	empty := true
	transcript.Elements(list, func([]byte) bool { empty = false; return false })
	if empty {
		return ""
	}
	return string(list)
}

// instructions returns the memory files that an attachment lists, nil where it lists none.
func (l *line) instructions() []session.Piece {
	var files []byte
	var pieces []session.Piece
	transcript.Pick(l.attachment, transcript.Field{Name: "files", Value: &files})
	transcript.Elements(files, func(file []byte) bool {
		var path, content []byte
		transcript.Pick(file, transcript.Field{Name: "path", Value: &path}, transcript.Field{Name: "content", Value: &content})
		if text := transcript.String(content); text != "" {
			pieces = append(pieces, session.Piece{Class: session.MemoryText, Path: shortPath(transcript.String(path)), Text: text})
		}
		return true
	})
	return pieces
}

// attachedFile returns the path in a member of the attachment.
func (l *line) attachedFile(member string) string {
	var path []byte
	transcript.Pick(l.attachment, transcript.Field{Name: member, Value: &path})
	return shortPath(transcript.String(path))
}

// shortPath returns what may be a path, "" for what is too long to be one.
func shortPath(path string) string {
	if len(path) > toolpath.MaxLength {
		return ""
	}
	return path
}

// said reads what a line of a user's turn adds: prompts, results of tools, and what the host says in the user's name.
func (l *line) said(e *session.Entry) {
	class := session.PromptText
	if transcript.IsTrue(l.meta) {
		class = session.InjectedText
	}
	var content []byte
	transcript.Pick(l.message, transcript.Field{Name: "content", Value: &content})
	if s := transcript.String(content); s != "" {
		e.Content = []session.Piece{{Class: class, Text: s}}
		return
	}
	transcript.Elements(content, func(block []byte) bool {
		var kind, id, body, failed []byte
		transcript.Pick(block,
			transcript.Field{Name: "type", Value: &kind},
			transcript.Field{Name: "tool_use_id", Value: &id},
			transcript.Field{Name: "content", Value: &body},
			transcript.Field{Name: "is_error", Value: &failed})
		if transcript.String(kind) != "tool_result" {
			e.Content = append(e.Content, texts(block, class)...)
			return true
		}
		result := session.Piece{Class: session.ToolResult, CallID: transcript.String(id)}
		var images []session.Piece
		for _, p := range texts(body, session.ToolResult) {
			if p.Class == session.Image {
				images = append(images, p)
			} else {
				result.Text += p.Text
			}
		}
		if loadsTools(body) {
			result.Extra = toolLoadedTokens
		}
		e.Content = append(append(e.Content, result), images...)
		e.Results = append(e.Results, callResult(id, transcript.IsTrue(failed))...)
		return true
	})
}

// loadsTools reports whether a result names tools whose definitions the model is given from then on.
func loadsTools(body []byte) (loads bool) {
	transcript.Elements(body, func(block []byte) bool {
		var kind []byte
		transcript.Pick(block, transcript.Field{Name: "type", Value: &kind})
		loads = transcript.String(kind) == "tool_reference"
		return !loads
	})
	return loads
}

// texts returns the pieces of a string, of a block or of an array of blocks.
func texts(value []byte, class session.PieceClass) []session.Piece {
	if s := transcript.String(value); s != "" {
		return []session.Piece{{Class: class, Text: s}}
	}
	var pieces []session.Piece
	if transcript.Elements(value, func(block []byte) bool {
		pieces = append(pieces, texts(block, class)...)
		return true
	}) {
		return pieces
	}
	var kind, text []byte
	transcript.Pick(value, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "text", Value: &text})
	switch transcript.String(kind) {
	case "image", "document":
		return []session.Piece{{Class: session.Image}}
	case "text":
		return texts(text, class)
	}
	return nil
}
