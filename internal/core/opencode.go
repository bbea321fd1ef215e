package core

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
	var kind, text, ignored value
	v.pick(field{"type", &kind}, field{"text", &text}, field{"ignored", &ignored})
	if !kind.isString() {
		return at(".type", mismatch("a string", kind))
	}
	switch kind.text() {
	case "text":
		if ignored.isTrue() {
			return nil // shown to the user, not to the model
		}
		return r.text(".text", text)
	case "reasoning":
		return r.text(".text", text)
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
	var url, mime value
	v.pick(field{"url", &url}, field{"mime", &mime})
	if !url.isString() {
		return at(".url", mismatch("a string", url))
	}
	m := dataURL(url)
	if mime.isString() {
		m.mime = mime.text()
	}
	if m.mime != "text/plain" && m.mime != "application/x-directory" {
		r.media(m, formAnthropic)
	}
	return nil
}

// openCodeTool reads a tool part: {tool, state: {input, output, error, attachments, time}}.
func (r *reader) openCodeTool(v value) error {
	var tool, state, input, output, failure, files, times value
	v.pick(field{"tool", &tool}, field{"state", &state})
	state.pick(
		field{"input", &input}, field{"output", &output}, field{"error", &failure}, field{"attachments", &files}, field{"time", &times},
	)
	if err := r.text(".tool", tool); err != nil {
		return err
	}
	r.json(input)
	switch {
	case times.member("compacted").present():
		r.add(openCodePruned)
		return nil
	case failure.present():
		return at(".state", r.text(".error", failure))
	case !output.present():
		r.add(openCodeInterrupted)
		return nil
	}
	before := r.tokens
	if err := r.text(".output", output); err != nil {
		return at(".state", err)
	}
	b := body{lo: output.lo, hi: output.hi, cleared: isPlaceholder(output)}
	for i, file := range files.elements() {
		if err := r.openCodeFile(file); err != nil {
			return at(".state.attachments", at(index(i), err))
		}
		b.extraLo, b.extraHi = files.lo, files.hi
	}
	b.tokens = r.tokens - before
	r.bodies = append(r.bodies, b)
	return nil
}
