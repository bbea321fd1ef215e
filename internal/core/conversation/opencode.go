package conversation

import (
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// openCode reads an OpenCode message: {info: {role}, parts}. A tool part has the call and its result.
func (r *reader) openCode(info, parts jsonscan.Value) error {
	if !info.IsObject() {
		return at(".info", mismatch("an object", info))
	}
	role := info.Member("role")
	if !role.IsString() {
		return at(".info.role", mismatch("a string", role))
	}
	r.role = role.Text()
	return r.parts(parts, r.openCodePart)
}

// The texts that OpenCode sends to the model in place of some parts.
const (
	openCodePruned      = "[Old tool result content cleared]"
	openCodeInterrupted = "[Tool execution was interrupted]"
	openCodeCompaction  = "What did we do so far?"
	openCodeSubtask     = "The following tool was executed by the user"
)

func (r *reader) openCodePart(v jsonscan.Value) error {
	if !v.IsObject() {
		return mismatch("an object", v)
	}
	var kind, text, ignored jsonscan.Value
	v.Pick(jsonscan.Into("type", &kind), jsonscan.Into("text", &text), jsonscan.Into("ignored", &ignored))
	if !kind.IsString() {
		return at(".type", mismatch("a string", kind))
	}
	before := r.tokens
	switch kind.Text() {
	case "text":
		if ignored.IsTrue() {
			return nil // shown to the user, not to the model
		}
		if err := r.saying(".text", text); err != nil {
			return err
		}
		if v.Member("synthetic").IsTrue() {
			r.spots[len(r.spots)-1].class = plan.Injected
		}
		return nil
	case "reasoning":
		if err := r.text(".text", text); err != nil {
			return err
		}
		r.blockSpot(plan.Thought, v, before, formElement)
		return nil
	case "file":
		if err := r.openCodeFile(v); err != nil {
			return err
		}
		if r.tokens > before {
			r.blockSpot(plan.Media, v, before, formBlock)
		}
		return nil
	case "tool":
		return r.openCodeTool(v)
	case "compaction":
		r.add(openCodeCompaction)
	case "subtask":
		r.add(openCodeSubtask)
	case "step-start", "step-finish", "snapshot", "patch", "agent", "retry":
		// OpenCode's own bookkeeping, which the model never sees.
	default:
		r.unknown(v)
	}
	return nil
}

// openCodeFile reads an attached file. The model gets text files and directories as separate text parts.
func (r *reader) openCodeFile(v jsonscan.Value) error {
	var url, mime jsonscan.Value
	v.Pick(jsonscan.Into("url", &url), jsonscan.Into("mime", &mime))
	if !url.IsString() {
		return at(".url", mismatch("a string", url))
	}
	m := dataURL(url)
	if mime.IsString() {
		m.mime = mime.Text()
	}
	if m.mime != "text/plain" && m.mime != "application/x-directory" {
		r.media(m, formAnthropic)
	}
	return nil
}

// openCodeTool reads a tool part: {tool, state: {input, output, error, attachments, time}}.
func (r *reader) openCodeTool(v jsonscan.Value) error {
	var tool, callID, state, input, output, failure, files, times jsonscan.Value
	v.Pick(jsonscan.Into("tool", &tool), jsonscan.Into("callID", &callID), jsonscan.Into("state", &state))
	state.Pick(
		jsonscan.Into("input", &input), jsonscan.Into("output", &output), jsonscan.Into("error", &failure), jsonscan.Into("attachments", &files), jsonscan.Into("time", &times),
	)
	if err := r.text(".tool", tool); err != nil {
		return err
	}
	call := ref{callID.Text(), tool.Text()}
	r.input(call, input, formObject)
	before := r.tokens
	switch {
	case times.Member("compacted").Present():
		r.add(openCodePruned)
		return nil
	case failure.Present():
		if err := r.text(".error", failure); err != nil {
			return at(".state", err)
		}
		r.resultSpot(call, failure, before, len(r.spots), true, -1)
		return nil
	case !output.Present():
		r.add(openCodeInterrupted)
		return nil
	}
	if err := r.text(".output", output); err != nil {
		return at(".state", err)
	}
	b := body{lo: output.Lo, hi: output.Hi, cleared: isPlaceholder(output)}
	for i, file := range files.Elements() {
		if err := r.openCodeFile(file); err != nil {
			return at(".state.attachments", at(index(i), err))
		}
		b.extraLo, b.extraHi = files.Lo, files.Hi
	}
	b.tokens = r.tokens - before
	r.resultSpot(call, output, before, len(r.spots), false, len(r.bodies))
	r.bodies = append(r.bodies, b)
	return nil
}
