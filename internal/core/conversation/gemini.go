package conversation

import (
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// gemini reads a Gemini content: {role, parts}. The role may be missing for the user's.
func (r *reader) gemini(role, parts jsonscan.Value) error {
	r.role = "user"
	if role.Present() {
		if !role.IsString() {
			return at(".role", mismatch("a string", role))
		}
		r.role = role.Text()
	}
	return r.parts(parts, r.block)
}

// geminiPart reads a part of Gemini in both spellings of its API.
func (r *reader) geminiPart(v jsonscan.Value) error {
	var text, call, response, data, file, code, output jsonscan.Value
	v.Pick(
		jsonscan.Into("text", &text),
		jsonscan.Into("functionCall", &call), jsonscan.Into("function_call", &call),
		jsonscan.Into("functionResponse", &response), jsonscan.Into("function_response", &response),
		jsonscan.Into("inlineData", &data), jsonscan.Into("inline_data", &data),
		jsonscan.Into("fileData", &file), jsonscan.Into("file_data", &file),
		jsonscan.Into("executableCode", &code), jsonscan.Into("executable_code", &code),
		jsonscan.Into("codeExecutionResult", &output), jsonscan.Into("code_execution_result", &output),
	)
	before := r.tokens
	if text.Present() {
		if err := r.saying(".text", text); err != nil {
			return err
		}
	}
	switch {
	case call.Present():
		return at(".functionCall", r.functionCall(call))
	case response.Present():
		return at(".functionResponse", r.functionResponse(response))
	case data.Present():
		r.geminiData(data)
		r.blockSpot(plan.Media, v, before, formPart)
	case file.Present():
		r.geminiData(file)
		r.blockSpot(plan.Media, v, before, formPart)
	case code.Present():
		return at(".executableCode", r.optional(".code", code.Member("code")))
	case output.Present():
		return at(".codeExecutionResult", r.optional(".output", output.Member("output")))
	case !text.Present():
		r.unknown(v)
	}
	return nil
}

func (r *reader) functionCall(v jsonscan.Value) error {
	var id, name, args jsonscan.Value
	v.Pick(jsonscan.Into("id", &id), jsonscan.Into("name", &name), jsonscan.Into("args", &args))
	call := ref{id.Text(), name.Text()}
	r.calls = append(r.calls, call)
	r.input(call, args, formObject)
	return r.text(".name", name)
}

// functionResponse reads {id, name, response, parts}; parts are images and similar media.
func (r *reader) functionResponse(v jsonscan.Value) error {
	var id, name, response, parts jsonscan.Value
	v.Pick(jsonscan.Into("id", &id), jsonscan.Into("name", &name), jsonscan.Into("response", &response), jsonscan.Into("parts", &parts))
	if err := r.text(".name", name); err != nil {
		return err
	}
	r.answers = append(r.answers, ref{id.Text(), name.Text()})
	before, spots := r.tokens, len(r.spots)
	r.json(response)
	r.resultSpot(ref{id.Text(), name.Text()}, response, before, spots, response.Member("error").Present(), len(r.bodies))
	if response.Present() {
		r.bodies = append(r.bodies, body{
			lo: response.Lo, hi: response.Hi, tokens: r.tokens - before, object: true,
			cleared: isPlaceholder(response.Member("output")),
		})
	}
	if parts.Present() {
		return r.parts(parts, r.geminiPart)
	}
	return nil
}

// geminiData reads {mimeType, data} and {mimeType, fileUri}.
func (r *reader) geminiData(v jsonscan.Value) {
	var mime, data jsonscan.Value
	v.Pick(jsonscan.Into("mimeType", &mime), jsonscan.Into("mime_type", &mime), jsonscan.Into("data", &data))
	r.media(media{mime: mime.Text(), data: data.Plain()}, formGemini)
}
