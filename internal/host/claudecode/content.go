package claudecode

import (
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/host/toolpath"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// exitPlan is the tool whose argument, a plan, is on file and not sent back.
const exitPlan = "ExitPlanMode"

// unsent are attachments that are on file and no part of what the model is sent for a turn: the system prompt, which every
// request carries anyway.
var unsent = map[string]bool{"prompt_snapshot": true}

// attached returns what an attachment adds: the text that the host made of it, where the version of the host writes that
// down, else the text of the attachment itself.
func (l *line) attached() []core.Piece {
	var kind, text []byte
	transcript.Pick(l.attachment,
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "text", Value: &text})
	var pieces []core.Piece
	class, file := core.InjectedText, ""
	switch name := transcript.String(kind); {
	case unsent[name]:
		return nil
	case name == "instructions":
		if pieces = l.instructions(); pieces != nil {
			return pieces
		}
		class = core.MemoryText
	case name == "nested_memory":
		class, file = core.MemoryText, l.attachedFile("path")
	default:
		file = l.attachedFile("filename")
	}
	transcript.Elements(l.rendered, func(block []byte) bool {
		var content []byte
		transcript.Pick(block, transcript.Field{Name: "content", Value: &content})
		pieces = append(pieces, texts(content, class)...)
		return true
	})
	if s := transcript.String(text); l.rendered == nil && s != "" {
		pieces = append(pieces, core.Piece{Class: class, Text: s})
	}
	for i := range pieces {
		pieces[i].Path = file
	}
	return pieces
}

// instructions returns the memory files that an attachment lists, nil where it lists none.
func (l *line) instructions() []core.Piece {
	var files []byte
	var pieces []core.Piece
	transcript.Pick(l.attachment, transcript.Field{Name: "files", Value: &files})
	transcript.Elements(files, func(file []byte) bool {
		var path, content []byte
		transcript.Pick(file, transcript.Field{Name: "path", Value: &path}, transcript.Field{Name: "content", Value: &content})
		if text := transcript.String(content); text != "" {
			pieces = append(pieces, core.Piece{Class: core.MemoryText, Path: shortPath(transcript.String(path)), Text: text})
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
func (l *line) said(e *core.Entry) {
	class := core.PromptText
	if transcript.IsTrue(l.meta) {
		class = core.InjectedText
	}
	var content []byte
	transcript.Pick(l.message, transcript.Field{Name: "content", Value: &content})
	if s := transcript.String(content); s != "" {
		e.Content = []core.Piece{{Class: class, Text: s}}
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
		result := core.Piece{Class: core.ToolResult, CallID: transcript.String(id)}
		var images []core.Piece
		for _, p := range texts(body, core.ToolResult) {
			if p.Class == core.Image {
				images = append(images, p)
			} else {
				result.Text += p.Text
			}
		}
		e.Content = append(append(e.Content, result), images...)
		e.Results = append(e.Results, callResult(id, transcript.IsTrue(failed))...)
		return true
	})
}

// texts returns the pieces of a string, of a block or of an array of blocks.
func texts(value []byte, class core.PieceClass) []core.Piece {
	if s := transcript.String(value); s != "" {
		return []core.Piece{{Class: class, Text: s}}
	}
	var pieces []core.Piece
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
		return []core.Piece{{Class: core.Image}}
	case "text":
		return texts(text, class)
	}
	return nil
}
