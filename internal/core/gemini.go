package core

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

// geminiPart reads a part of Gemini's, in either spelling that its API takes.
func (r *reader) geminiPart(v value) error {
	var text, call, response, data, file, code, output value
	v.pick(
		field{"text", &text},
		field{"functionCall", &call}, field{"function_call", &call},
		field{"functionResponse", &response}, field{"function_response", &response},
		field{"inlineData", &data}, field{"inline_data", &data},
		field{"fileData", &file}, field{"file_data", &file},
		field{"executableCode", &code}, field{"executable_code", &code},
		field{"codeExecutionResult", &output}, field{"code_execution_result", &output},
	)
	if err := r.optional(".text", text); err != nil {
		return err
	}
	switch {
	case call.present():
		return at(".functionCall", r.functionCall(call))
	case response.present():
		return at(".functionResponse", r.functionResponse(response))
	case data.present():
		r.geminiData(data)
	case file.present():
		r.geminiData(file)
	case code.present():
		return at(".executableCode", r.optional(".code", code.member("code")))
	case output.present():
		return at(".codeExecutionResult", r.optional(".output", output.member("output")))
	case !text.present():
		r.unknown(v)
	}
	return nil
}

func (r *reader) functionCall(v value) error {
	var id, name, args value
	v.pick(field{"id", &id}, field{"name", &name}, field{"args", &args})
	r.calls = append(r.calls, ref{id.text(), name.text()})
	r.json(args)
	return r.text(".name", name)
}

// functionResponse reads {id, name, response, parts}, of which parts are pictures and the like.
func (r *reader) functionResponse(v value) error {
	var id, name, response, parts value
	v.pick(field{"id", &id}, field{"name", &name}, field{"response", &response}, field{"parts", &parts})
	if err := r.text(".name", name); err != nil {
		return err
	}
	r.answers = append(r.answers, ref{id.text(), name.text()})
	before := r.tokens
	r.json(response)
	if response.present() {
		r.bodies = append(r.bodies, body{
			lo: response.lo, hi: response.hi, tokens: r.tokens - before, object: true,
			cleared: isPlaceholder(response.member("output")),
		})
	}
	if parts.present() {
		return r.parts(parts, r.geminiPart)
	}
	return nil
}

// geminiData reads {mimeType, data} and {mimeType, fileUri}.
func (r *reader) geminiData(v value) {
	var mime, data value
	v.pick(field{"mimeType", &mime}, field{"mime_type", &mime}, field{"data", &data})
	r.media(media{mime: mime.text(), data: data.plain()}, formGemini)
}
