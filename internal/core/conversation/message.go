package conversation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxls/ctxls/internal/jsonscan"
)

// digest is what measuring and trimming need of one message. The count cache shares it, so it never changes and contains nothing of the
// message itself.
type digest struct {
	role    string
	tokens  int
	exact   bool // only text was counted
	named   bool // has a name, which framing counts
	calls   []ref
	answers []ref
	bodies  []body
	spots   []spot // in the order of the message
}

// ref identifies the call of a tool result: by ID, or by the tool's name if the form has no IDs.
type ref struct{ id, name string }

// body is the content of one tool result: bytes lo to hi of its message, and their count.
type body struct {
	lo, hi  int
	tokens  int
	object  bool // the form requires an object here, not a string
	cleared bool // it is a placeholder already
	// extraLo and extraHi are an array of attachments that belongs to the body, if there is one.
	extraLo, extraHi int
}

// instructs reports whether trimming keeps the message whatever the target is.
func (g *digest) instructs() bool { return g.role == "system" || g.role == "developer" }

// opensTurn reports whether the message is the user's own, so that a conversation may start with it.
func (g *digest) opensTurn() bool {
	return g.role == "user" && len(g.answers) == 0 && len(g.bodies) == 0
}

// countingRules are what a count depends on besides the content. They are part of the cache key.
type countingRules struct {
	encoding string
	images   imageRule
}

// reader parses one message and counts its content.
type reader struct {
	countingRules
	count func(string) int
	digest
	depth   int // of arrays of blocks inside blocks
	scratch []byte
}

// maxNested bounds the nesting of blocks: a document in a result is at the third level. Deeper content counts as unknown content, which
// bounds the number of passes over any input.
const maxNested = 10

// nested reads the elements of an array of blocks.
func (r *reader) nested(array jsonscan.Value, read func(jsonscan.Value) error) error {
	if r.depth == maxNested {
		r.unknown(array)
		return nil
	}
	r.depth++
	defer func() { r.depth-- }()
	first := len(r.spots)
	for i, block := range array.Elements() {
		if err := read(block); err != nil {
			return at(index(i), err)
		}
	}
	if r.depth == 1 {
		r.settleThoughts(array, first)
	}
	return nil
}

// read fills the digest.
func (r *reader) read(kind kind, v jsonscan.Value) error {
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
func (r *reader) system(v jsonscan.Value) error {
	if v.IsObject() {
		return r.parts(v.Member("parts"), r.block)
	}
	return r.content("", v)
}

// tools counts the JSON text of each tool definition: its name, its description and the schema of its parameters.
func (r *reader) tools(v jsonscan.Value) error {
	if !v.IsArray() {
		return mismatch("an array", v)
	}
	for _, tool := range v.Elements() {
		r.json(tool)
	}
	return nil
}

// message recognizes the forms by their members: info and parts are OpenCode, parts is Gemini, content is OpenAI chat or Anthropic,
// whose blocks have different types.
func (r *reader) message(v jsonscan.Value) error {
	if !v.IsObject() {
		return mismatch("an object", v)
	}
	var info, parts jsonscan.Value
	var m chat
	v.Pick(
		jsonscan.Into("info", &info), jsonscan.Into("parts", &parts),
		jsonscan.Into("role", &m.role), jsonscan.Into("content", &m.content), jsonscan.Into("name", &m.name), jsonscan.Into("tool_call_id", &m.toolCallID),
		jsonscan.Into("tool_calls", &m.toolCalls), jsonscan.Into("function_call", &m.functionCall), jsonscan.Into("refusal", &m.refusal),
		jsonscan.Into("reasoning", &m.reasoning), jsonscan.Into("reasoning_content", &m.reasoning), jsonscan.Into("audio", &m.audio),
	)
	switch {
	case info.Present():
		return r.openCode(info, parts)
	case parts.Present():
		return r.gemini(m.role, parts)
	}
	return r.chat(m)
}

// chat holds the members of a message of OpenAI chat completions or Anthropic messages.
type chat struct {
	role, content, name, toolCallID, toolCalls, functionCall, refusal, reasoning, audio jsonscan.Value
}

func (r *reader) chat(m chat) error {
	if !m.role.IsString() {
		return at(".role", mismatch("a string", m.role))
	}
	r.role = m.role.Text()
	if m.content.Doc == nil && !m.toolCalls.Present() && !m.functionCall.Present() && !m.refusal.Present() && !m.audio.Present() {
		return at(".content", mismatch("a string or an array", m.content))
	}
	r.named = m.name.Present()
	if err := r.optional(".name", m.name); err != nil {
		return err
	}
	if m.reasoning.IsString() {
		r.add(m.reasoning.Text())
	}
	read := r.content
	if r.role == "tool" || r.role == "function" {
		read = func(path string, v jsonscan.Value) error {
			return r.result(ref{m.toolCallID.Text(), m.name.Text()}, path, v, false)
		}
	}
	if err := read(".content", m.content); err != nil {
		return err
	}
	if err := r.optional(".refusal", m.refusal); err != nil {
		return err
	}
	if m.audio.Present() {
		r.unknown(m.audio)
	}
	if m.functionCall.Present() {
		if err := r.function(".function_call", m.functionCall, ""); err != nil {
			return err
		}
	}
	if m.toolCalls.Present() && !m.toolCalls.IsArray() {
		return at(".tool_calls", mismatch("an array", m.toolCalls))
	}
	for i, call := range m.toolCalls.Elements() {
		if err := r.toolCall(call); err != nil {
			return at(".tool_calls", at(index(i), err))
		}
	}
	return nil
}

// toolCall reads one of tool_calls: {id, function: {name, arguments}} or {id, custom: {name, input}}.
func (r *reader) toolCall(v jsonscan.Value) error {
	if !v.IsObject() {
		return mismatch("an object", v)
	}
	var id, function, custom jsonscan.Value
	v.Pick(jsonscan.Into("id", &id), jsonscan.Into("function", &function), jsonscan.Into("custom", &custom))
	switch {
	case function.Present():
		return r.function(".function", function, id.Text())
	case custom.Present():
		return r.function(".custom", custom, id.Text())
	}
	r.calls = append(r.calls, ref{id: id.Text()})
	r.unknown(v)
	return nil
}

// function reads {name, arguments}, where arguments is JSON in a string or, from some servers, plain JSON.
func (r *reader) function(path string, v jsonscan.Value, id string) error {
	if !v.IsObject() {
		return at(path, mismatch("an object", v))
	}
	var name, arguments jsonscan.Value
	v.Pick(jsonscan.Into("name", &name), jsonscan.Into("arguments", &arguments), jsonscan.Into("input", &arguments))
	if err := r.text(".name", name); err != nil {
		return at(path, err)
	}
	call, form := ref{id, name.Text()}, formObject
	switch {
	case path == ".custom":
		form = formString
	case arguments.IsString():
		form = formArguments
	}
	r.input(call, arguments, form)
	r.calls = append(r.calls, call)
	return nil
}

// content reads a string, or an array of strings and blocks. null is no content.
func (r *reader) content(path string, v jsonscan.Value) error {
	switch {
	case v.IsString():
		r.say(v)
	case v.IsArray():
		return at(path, r.nested(v, r.block))
	case v.Present():
		return at(path, mismatch("a string or an array", v))
	}
	return nil
}

// parts reads the parts of a Gemini or OpenCode message.
func (r *reader) parts(parts jsonscan.Value, read func(jsonscan.Value) error) error {
	if !parts.IsArray() {
		return at(".parts", mismatch("an array", parts))
	}
	return at(".parts", r.nested(parts, read))
}

// result reads the content of a tool result. A result that contains calls or results itself has no body that may be cleared, since they
// would be lost.
func (r *reader) result(answers ref, path string, v jsonscan.Value, failed bool) error {
	before, within, spots := r.tokens, len(r.calls)+len(r.answers), len(r.spots)
	if err := r.content(path, v); err != nil {
		return err
	}
	within -= len(r.calls) + len(r.answers)
	r.answers = append(r.answers, answers)
	place := -1
	if within == 0 {
		place = len(r.bodies)
	}
	r.resultSpot(answers, v, before, spots, failed, place)
	if v.Present() && within == 0 {
		r.bodies = append(r.bodies, body{
			lo: v.Lo, hi: v.Hi, tokens: r.tokens - before, cleared: isPlaceholder(v),
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

// text counts a required string.
func (r *reader) text(path string, v jsonscan.Value) error {
	if !v.IsString() {
		return at(path, mismatch("a string", v))
	}
	r.add(v.Text())
	return nil
}

// optional counts a string that may be missing or null.
func (r *reader) optional(path string, v jsonscan.Value) error {
	if !v.Present() {
		return nil
	}
	return r.text(path, v)
}

// json counts arguments: the text of a string, the JSON text of anything else.
func (r *reader) json(v jsonscan.Value) {
	switch {
	case v.IsString():
		r.add(v.Text())
	case v.Present():
		r.scratch = v.Compact(r.scratch[:0])
		r.add(string(r.scratch))
	}
}

// unknown counts unknown content by its JSON text: too much is safer than nothing.
func (r *reader) unknown(v jsonscan.Value) {
	r.exact = false
	r.scratch = v.Compact(r.scratch[:0])
	r.add(string(r.scratch))
}

// estimate counts content other than text.
func (r *reader) estimate(tokens int) {
	r.exact = false
	r.tokens += tokens
}

// shapeError is a value of an unexpected type.
type shapeError struct{ path, want, got string }

func (e *shapeError) Error() string {
	return fmt.Sprintf("%s: expected %s, got %s", e.path, e.want, e.got)
}

func mismatch(want string, got jsonscan.Value) error { return &shapeError{"", want, got.Kind()} }

// at prepends a step to the path of a shape error.
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

// isPlaceholder reports whether v is a placeholder. It does not decode strings that are longer than any placeholder with all characters
// escaped.
func isPlaceholder(v jsonscan.Value) bool {
	const digits, escape = 19, len(`\u0000`)
	if len(v.Inside()) > (len(placeholderStart)+digits+len(placeholderEnd))*escape {
		return false
	}
	n, begins := strings.CutPrefix(v.Text(), placeholderStart)
	n, ends := strings.CutSuffix(n, placeholderEnd)
	_, err := strconv.ParseUint(n, 10, 63)
	return begins && ends && err == nil
}
