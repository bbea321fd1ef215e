package core

// block reads one element of a content array: an OpenAI content part or an Anthropic block by its type, a string, or,
// where there is no type, a part of Gemini's.
func (r *reader) block(v value) error {
	if v.isString() {
		r.add(v.text())
		return nil
	}
	if !v.isObject() {
		return mismatch("an object", v)
	}
	kind := v.member("type")
	if !kind.present() {
		return r.geminiPart(v)
	}
	if !kind.isString() {
		return at(".type", mismatch("a string", kind))
	}
	switch kind.text() {
	case "text", "input_text", "output_text", "reasoning":
		return r.text(".text", v.member("text"))
	case "refusal":
		return r.text(".refusal", v.member("refusal"))
	case "thinking":
		return r.thinking(v)
	case "redacted_thinking":
		r.estimate(sealedTokens(v.member("data")))
	case "tool_use":
		r.calls = append(r.calls, ref{v.member("id").text(), v.member("name").text()})
		return r.toolUse(v)
	case "server_tool_use", "mcp_tool_use":
		return r.toolUse(v) // answered within the same message
	case "tool_result":
		return r.result(ref{id: v.member("tool_use_id").text()}, ".content", v.member("content"))
	case "image":
		return r.source(v, formAnthropic)
	case "document":
		return r.document(v)
	case "image_url", "input_image":
		return r.imageURL(v)
	case "file", "input_file":
		return r.file(v)
	default:
		r.unknown(v)
	}
	return nil
}

// thinking counts the visible thinking. Its signature is not text; where it stands alone, the thinking was held back and
// its size is estimated from it.
func (r *reader) thinking(v value) error {
	visible, signature := v.member("thinking"), v.member("signature")
	if err := r.optional(".thinking", visible); err != nil {
		return err
	}
	if visible.text() == "" && signature.text() != "" {
		r.estimate(sealedTokens(signature))
	}
	return nil
}

// sealedTokens estimates thinking that is only there encrypted, from the length of its base64: 0.205 tokens for each
// character over 150, as measured on the usage that providers reported for some 18,000 consecutive requests with signed
// thinking (Claude Opus 4.5, Opus 4.6 and Sonnet 4.5: 0.194 to 0.206).
func sealedTokens(v value) int {
	if !v.isString() {
		return 0
	}
	return max(0, v.hi-v.lo-2-150) * 205 / 1000
}

func (r *reader) toolUse(v value) error {
	if err := r.text(".name", v.member("name")); err != nil {
		return err
	}
	r.json(v.member("input"))
	return nil
}

// imageURL reads {image_url: "…"} and {image_url: {url, detail}}.
func (r *reader) imageURL(v value) error {
	url, detail := v.member("image_url"), v.member("detail")
	path := ".image_url"
	if url.isObject() {
		url, detail, path = url.member("url"), url.member("detail"), ".image_url.url"
	}
	if v.member("file_id").present() && !url.present() {
		r.media(media{mime: "image/*"}, formOpenAI)
		return nil
	}
	if !url.isString() {
		return at(path, mismatch("a string", url))
	}
	m := dataURL(url)
	m.mime, m.detail = "image/*", detail.text()
	r.media(m, formOpenAI)
	return nil
}

// file reads {file: {file_data, filename, file_id}} and the same members in the open.
func (r *reader) file(v value) error {
	if inner := v.member("file"); inner.isObject() {
		v = inner
	}
	r.add(v.member("filename").text())
	r.media(dataURL(v.member("file_data")), formOpenAI)
	return nil
}

// document reads an Anthropic document, whose source is base64, a URL or an uploaded file, or holds its text.
func (r *reader) document(v value) error {
	for _, member := range []string{"title", "context"} {
		if err := r.optional("."+member, v.member(member)); err != nil {
			return err
		}
	}
	return r.source(v, formAnthropic)
}

func (r *reader) source(v value, form form) error {
	source := v.member("source")
	if !source.isObject() {
		return at(".source", mismatch("an object", source))
	}
	data := source.member("data")
	switch source.member("type").text() {
	case "text":
		return at(".source", r.text(".data", data))
	case "content":
		return at(".source", r.content(".content", source.member("content")))
	}
	m := media{mime: source.member("media_type").text()}
	if data.isString() {
		m.data = data.doc[data.lo+1 : data.hi-1]
	}
	if m.mime == "" && v.member("type").text() == "image" {
		m.mime = "image/*"
	}
	r.media(m, form)
	return nil
}

// gemini reads a Gemini content: {role, parts}. The role may be left out for the user's.
func (r *reader) gemini(role, parts value) error {
	r.role = "user"
	if role.present() {
		if !role.isString() {
			return at(".role", mismatch("a string", role))
		}
		r.role = role.text()
	}
	return r.parts(parts, r.block)
}

func (r *reader) parts(parts value, read func(value) error) error {
	if !parts.isArray() {
		return at(".parts", mismatch("an array", parts))
	}
	for i, part := range parts.elements() {
		if err := read(part); err != nil {
			return at(".parts", at(index(i), err))
		}
	}
	return nil
}

// geminiPart reads a part of Gemini's, in either spelling that its API takes.
func (r *reader) geminiPart(v value) error {
	known := false
	for key, val := range v.members() {
		var err error
		switch string(key) {
		case "text":
			err = r.text(".text", val)
		case "functionCall", "function_call":
			r.calls = append(r.calls, ref{val.member("id").text(), val.member("name").text()})
			r.json(val.member("args"))
			err = at("."+string(key), r.text(".name", val.member("name")))
		case "functionResponse", "function_response":
			err = at("."+string(key), r.functionResponse(val))
		case "inlineData", "inline_data":
			r.media(inline(val), formGemini)
		case "fileData", "file_data":
			r.media(media{mime: mimeOf(val)}, formGemini)
		case "executableCode", "executable_code":
			err = at("."+string(key), r.optional(".code", val.member("code")))
		case "codeExecutionResult", "code_execution_result":
			err = at("."+string(key), r.optional(".output", val.member("output")))
		default:
			continue
		}
		if err != nil {
			return err
		}
		known = true
	}
	if !known {
		r.unknown(v)
	}
	return nil
}

func (r *reader) functionResponse(v value) error {
	name, response := v.member("name"), v.member("response")
	if err := r.text(".name", name); err != nil {
		return err
	}
	before := r.tokens
	r.json(response)
	b := body{lo: response.lo, hi: response.hi, tokens: r.tokens - before, object: true}
	b.cleared = isPlaceholder(response.member("output").text())
	if parts := v.member("parts"); parts.isArray() {
		if err := r.parts(parts, r.geminiPart); err != nil {
			return err
		}
	}
	r.answers = append(r.answers, ref{v.member("id").text(), name.text()})
	if response.present() {
		r.bodies = append(r.bodies, b)
	}
	return nil
}

func mimeOf(v value) string {
	if mime := v.member("mimeType").text(); mime != "" {
		return mime
	}
	return v.member("mime_type").text()
}

func inline(v value) media {
	m := media{mime: mimeOf(v)}
	if data := v.member("data"); data.isString() {
		m.data = data.doc[data.lo+1 : data.hi-1]
	}
	return m
}

// openCode reads a message of OpenCode's: {info: {role}, parts}. A tool part holds the call and its result.
func (r *reader) openCode(info, parts value) error {
	if !info.isObject() {
		return at(".info", mismatch("an object", info))
	}
	role := info.member("role")
	if !role.isString() {
		return at(".info.role", mismatch("a string", role))
	}
	r.role = role.text()
	return r.parts(parts, r.openCodePart)
}

// What OpenCode says to the model in place of some parts.
const (
	openCodePruned      = "[Old tool result content cleared]"
	openCodeInterrupted = "[Tool execution was interrupted]"
	openCodeCompaction  = "What did we do so far?"
	openCodeSubtask     = "The following tool was executed by the user"
)

func (r *reader) openCodePart(v value) error {
	if !v.isObject() {
		return mismatch("an object", v)
	}
	kind := v.member("type")
	if !kind.isString() {
		return at(".type", mismatch("a string", kind))
	}
	switch kind.text() {
	case "text":
		if v.member("ignored").kind() == "a boolean" && string(v.member("ignored").raw()) == "true" {
			return nil // shown to the user, not to the model
		}
		return r.text(".text", v.member("text"))
	case "reasoning":
		return r.text(".text", v.member("text"))
	case "file":
		return r.openCodeFile(v)
	case "tool":
		return r.openCodeTool(v)
	case "compaction":
		r.add(openCodeCompaction)
	case "subtask":
		r.add(openCodeSubtask)
	case "step-start", "step-finish", "snapshot", "patch", "agent", "retry":
		// OpenCode's own bookkeeping: the model never sees it.
	default:
		r.unknown(v)
	}
	return nil
}

// openCodeFile reads an attached file. Text files and directories reach the model as text parts of their own beside it.
func (r *reader) openCodeFile(v value) error {
	url := v.member("url")
	if !url.isString() {
		return at(".url", mismatch("a string", url))
	}
	m := dataURL(url)
	if mime := v.member("mime").text(); mime != "" {
		m.mime = mime
	}
	if m.mime == "text/plain" || m.mime == "application/x-directory" {
		return nil
	}
	r.media(m, formAnthropic)
	return nil
}

func (r *reader) openCodeTool(v value) error {
	if err := r.text(".tool", v.member("tool")); err != nil {
		return err
	}
	state := v.member("state")
	r.json(state.member("input"))
	output := state.member("output")
	switch {
	case state.member("time").member("compacted").present():
		r.add(openCodePruned)
		return nil
	case state.member("error").present():
		return at(".state", r.text(".error", state.member("error")))
	case !output.present():
		r.add(openCodeInterrupted)
		return nil
	}
	before := r.tokens
	if err := r.text(".output", output); err != nil {
		return at(".state", err)
	}
	b := body{lo: output.lo, hi: output.hi, cleared: isPlaceholder(output.text())}
	if files := state.member("attachments"); files.isArray() {
		for i, file := range files.elements() {
			if err := r.openCodeFile(file); err != nil {
				return at(".state.attachments", at(index(i), err))
			}
		}
		b.extraLo, b.extraHi = files.lo, files.hi
	}
	b.tokens = r.tokens - before
	r.bodies = append(r.bodies, b)
	return nil
}
