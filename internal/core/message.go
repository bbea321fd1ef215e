package core

import (
	"fmt"
	"strconv"
	"strings"
)

// gist is what measuring and trimming need to know of one message. It is kept in the count cache and shared, so it is
// never changed once it is made and holds nothing of the message itself.
type gist struct {
	role    string
	tokens  int
	exact   bool // only text was counted
	named   bool // carries a name, which framing counts
	calls   []ref
	answers []ref
	bodies  []body
}

// ref is how a tool result finds its call: by id, or by the tool's name where the form has no ids.
type ref struct{ id, name string }

// body is the content of one tool result: bytes lo to hi of its message, and what they count.
type body struct {
	lo, hi  int
	tokens  int
	object  bool // the form wants an object here, not a string
	cleared bool // it is a placeholder already
	// extraLo and extraHi are an array of attachments that goes with the body, where there is one.
	extraLo, extraHi int
}

// instructs reports whether trimming keeps the message whatever the target.
func (g *gist) instructs() bool { return g.role == "system" || g.role == "developer" }

// opensTurn reports whether the message is a user's own: one that a conversation may start with.
func (g *gist) opensTurn() bool { return g.role == "user" && len(g.answers) == 0 && len(g.bodies) == 0 }

// lens is what a count depends on besides the content: it is part of the key under which counts are cached.
type lens struct {
	encoding string
	images   imageRule
}

// reader takes one message apart and counts what is in it.
type reader struct {
	lens
	count func(string) int
	gist
	depth   int // of arrays of blocks inside blocks
	scratch []byte
}

// maxNested bounds how deeply blocks hold blocks: a document in a result is the third level. What is deeper counts as what
// is not known, so that no input is passed over more often than that.
const maxNested = 10

// nested reads the elements of an array of blocks.
func (r *reader) nested(array value, read func(value) error) error {
	if r.depth == maxNested {
		r.unknown(array)
		return nil
	}
	r.depth++
	defer func() { r.depth-- }()
	for i, block := range array.elements() {
		if err := read(block); err != nil {
			return at(index(i), err)
		}
	}
	return nil
}

// read fills the gist.
func (r *reader) read(kind kind, v value) error {
	r.exact = true
	switch kind {
	case kindSystem:
		return r.system(v)
	case kindTools:
		return r.tools(v)
	}
	return r.message(v)
}

// system reads a string, an array of strings and blocks, or Gemini's {parts}.
func (r *reader) system(v value) error {
	if v.isObject() {
		return r.parts(v.member("parts"), r.block)
	}
	return r.content("", v)
}

// tools counts the JSON text of each tool definition: its name, its description and the schema of its parameters.
func (r *reader) tools(v value) error {
	if !v.isArray() {
		return mismatch("an array", v)
	}
	for _, tool := range v.elements() {
		r.json(tool)
	}
	return nil
}

// message tells the forms apart by their members: info and parts are OpenCode's, parts Gemini's, content that of OpenAI
// chat and Anthropic, whose blocks do not collide.
func (r *reader) message(v value) error {
	if !v.isObject() {
		return mismatch("an object", v)
	}
	var info, parts value
	var m chat
	v.pick(
		field{"info", &info}, field{"parts", &parts},
		field{"role", &m.role}, field{"content", &m.content}, field{"name", &m.name}, field{"tool_call_id", &m.toolCallID},
		field{"tool_calls", &m.toolCalls}, field{"function_call", &m.functionCall}, field{"refusal", &m.refusal},
		field{"reasoning", &m.reasoning}, field{"reasoning_content", &m.reasoning}, field{"audio", &m.audio},
	)
	switch {
	case info.present():
		return r.openCode(info, parts)
	case parts.present():
		return r.gemini(m.role, parts)
	}
	return r.chat(m)
}

// chat holds the members of a message of OpenAI chat completions or Anthropic messages.
type chat struct {
	role, content, name, toolCallID, toolCalls, functionCall, refusal, reasoning, audio value
}

func (r *reader) chat(m chat) error {
	if !m.role.isString() {
		return at(".role", mismatch("a string", m.role))
	}
	r.role = m.role.text()
	if m.content.doc == nil && !m.toolCalls.present() && !m.functionCall.present() && !m.refusal.present() && !m.audio.present() {
		return at(".content", mismatch("a string or an array", m.content))
	}
	r.named = m.name.present()
	if err := r.optional(".name", m.name); err != nil {
		return err
	}
	if m.reasoning.isString() {
		r.add(m.reasoning.text())
	}
	read := r.content
	if r.role == "tool" || r.role == "function" {
		read = func(path string, v value) error {
			return r.result(ref{m.toolCallID.text(), m.name.text()}, path, v)
		}
	}
	if err := read(".content", m.content); err != nil {
		return err
	}
	if err := r.optional(".refusal", m.refusal); err != nil {
		return err
	}
	if m.audio.present() {
		r.unknown(m.audio)
	}
	if m.functionCall.present() {
		if err := r.function(".function_call", m.functionCall, ""); err != nil {
			return err
		}
	}
	if m.toolCalls.present() && !m.toolCalls.isArray() {
		return at(".tool_calls", mismatch("an array", m.toolCalls))
	}
	for i, call := range m.toolCalls.elements() {
		if err := r.toolCall(call); err != nil {
			return at(".tool_calls", at(index(i), err))
		}
	}
	return nil
}

// toolCall reads one of tool_calls: {id, function: {name, arguments}} or {id, custom: {name, input}}.
func (r *reader) toolCall(v value) error {
	if !v.isObject() {
		return mismatch("an object", v)
	}
	var id, function, custom value
	v.pick(field{"id", &id}, field{"function", &function}, field{"custom", &custom})
	switch {
	case function.present():
		return r.function(".function", function, id.text())
	case custom.present():
		return r.function(".custom", custom, id.text())
	}
	r.calls = append(r.calls, ref{id: id.text()})
	r.unknown(v)
	return nil
}

// function reads {name, arguments}, where arguments is JSON as a string or, as some servers have it, as it is.
func (r *reader) function(path string, v value, id string) error {
	if !v.isObject() {
		return at(path, mismatch("an object", v))
	}
	var name, arguments value
	v.pick(field{"name", &name}, field{"arguments", &arguments}, field{"input", &arguments})
	if err := r.text(".name", name); err != nil {
		return at(path, err)
	}
	r.json(arguments)
	r.calls = append(r.calls, ref{id, name.text()})
	return nil
}

// content reads a string, or an array of strings and blocks. null is nothing.
func (r *reader) content(path string, v value) error {
	switch {
	case v.isString():
		r.add(v.text())
	case v.isArray():
		return at(path, r.nested(v, r.block))
	case v.present():
		return at(path, mismatch("a string or an array", v))
	}
	return nil
}

// parts reads the parts of a Gemini or OpenCode message.
func (r *reader) parts(parts value, read func(value) error) error {
	if !parts.isArray() {
		return at(".parts", mismatch("an array", parts))
	}
	return at(".parts", r.nested(parts, read))
}

// result reads the content of a tool result. One that holds calls or results itself has no body that may be cleared: what
// belongs to them would go with it.
func (r *reader) result(answers ref, path string, v value) error {
	before, within := r.tokens, len(r.calls)+len(r.answers)
	if err := r.content(path, v); err != nil {
		return err
	}
	within -= len(r.calls) + len(r.answers)
	r.answers = append(r.answers, answers)
	if v.present() && within == 0 {
		r.bodies = append(r.bodies, body{
			lo: v.lo, hi: v.hi, tokens: r.tokens - before, cleared: isPlaceholder(v),
		})
	}
	return nil
}

// add counts a text.
func (r *reader) add(text string) {
	if text != "" {
		r.tokens += r.count(text)
	}
}

// text counts a string that must be there.
func (r *reader) text(path string, v value) error {
	if !v.isString() {
		return at(path, mismatch("a string", v))
	}
	r.add(v.text())
	return nil
}

// optional counts a string that may be missing or null.
func (r *reader) optional(path string, v value) error {
	if !v.present() {
		return nil
	}
	return r.text(path, v)
}

// json counts arguments: what a string says, the JSON text of anything else.
func (r *reader) json(v value) {
	switch {
	case v.isString():
		r.add(v.text())
	case v.present():
		r.scratch = v.compact(r.scratch[:0])
		r.add(string(r.scratch))
	}
}

// unknown counts what ctxls does not know by its JSON text: too much is safer than nothing.
func (r *reader) unknown(v value) {
	r.exact = false
	r.scratch = v.compact(r.scratch[:0])
	r.add(string(r.scratch))
}

// estimate counts what is not text.
func (r *reader) estimate(tokens int) {
	r.exact = false
	r.tokens += tokens
}

// shapeError is a value of another type than its place asks for.
type shapeError struct{ path, want, got string }

func (e *shapeError) Error() string {
	return fmt.Sprintf("%s: expected %s, got %s", e.path, e.want, e.got)
}

func mismatch(want string, got value) error { return &shapeError{"", want, got.kind()} }

// at puts a step in front of the path of a shape error.
func at(step string, err error) error {
	if e, ok := err.(*shapeError); ok {
		e.path = step + e.path
	}
	return err
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// The placeholder of a cleared tool result, around its former size in tokens.
const placeholderStart, placeholderEnd = "[tool result cleared by ctxls: ", " tokens]"

func placeholder(tokens int) string { return placeholderStart + strconv.Itoa(tokens) + placeholderEnd }

// isPlaceholder reports whether v is the string that is a placeholder. A longer one than that could be, all of it written in
// escapes, is not even decoded.
func isPlaceholder(v value) bool {
	const digits, escape = 19, len(`\u0000`)
	if len(v.inside()) > (len(placeholderStart)+digits+len(placeholderEnd))*escape {
		return false
	}
	n, begins := strings.CutPrefix(v.text(), placeholderStart)
	n, ends := strings.CutSuffix(n, placeholderEnd)
	_, err := strconv.ParseUint(n, 10, 63)
	return begins && ends && err == nil
}
