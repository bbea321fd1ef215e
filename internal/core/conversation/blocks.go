package conversation

import (
	"strings"

	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// block reads one element of a content array: an OpenAI content part or an Anthropic block by its type, a string, or, without a type, a
// part of Gemini.
func (r *reader) block(v jsonscan.Value) error {
	if v.IsString() {
		r.say(v)
		return nil
	}
	if !v.IsObject() {
		return mismatch("an object", v)
	}
	var kind, text, id, name, input, answers, content, failed jsonscan.Value
	v.Pick(
		jsonscan.Into("type", &kind), jsonscan.Into("text", &text), jsonscan.Into("id", &id), jsonscan.Into("name", &name), jsonscan.Into("input", &input),
		jsonscan.Into("tool_use_id", &answers), jsonscan.Into("content", &content), jsonscan.Into("is_error", &failed),
	)
	if !kind.Present() {
		return r.geminiPart(v)
	}
	if !kind.IsString() {
		return at(".type", mismatch("a string", kind))
	}
	before := r.tokens
	switch kind.Text() {
	case "text", "input_text", "output_text", "reasoning":
		return r.saying(".text", text)
	case "refusal":
		return r.text(".refusal", v.Member("refusal"))
	case "thinking":
		if err := r.thinking(v); err != nil {
			return err
		}
		r.blockSpot(plan.Thought, v, before, formElement)
	case "redacted_thinking":
		r.estimate(sealedTokens(v.Member("data")))
		r.blockSpot(plan.Thought, v, before, formElement)
	case "tool_use":
		call := ref{id.Text(), name.Text()}
		r.calls = append(r.calls, call)
		r.input(call, input, formObject)
		return r.text(".name", name)
	case "server_tool_use", "mcp_tool_use": // the same message contains the answer
		r.json(input)
		return r.text(".name", name)
	case "tool_result":
		return r.result(ref{id: answers.Text()}, ".content", content, failed.IsTrue())
	case "image", "document", "image_url", "input_image", "file", "input_file", "input_audio":
		spots := len(r.spots)
		if err := r.attachment(kind.Text(), v); err != nil {
			return err
		}
		r.spots = r.spots[:spots] // the text of a document belongs to it
		form := formBlock
		if strings.HasPrefix(kind.Text(), "input_") && kind.Text() != "input_audio" {
			form = formInput
		}
		r.blockSpot(plan.Media, v, before, form)
	default:
		r.unknown(v)
	}
	return nil
}

// attachment reads an image, a document, a file or a recording.
func (r *reader) attachment(kind string, v jsonscan.Value) error {
	switch kind {
	case "image":
		return r.source(v, "image/*")
	case "document":
		return r.document(v)
	case "image_url", "input_image":
		return r.imageURL(v)
	case "input_audio":
		r.audio(v)
	default:
		r.file(v)
	}
	return nil
}

// thinking counts the visible thinking. Its signature is not text. If there is only a signature, the thinking was withheld, and its size
// is estimated from the signature.
func (r *reader) thinking(v jsonscan.Value) error {
	var visible, signature jsonscan.Value
	v.Pick(jsonscan.Into("thinking", &visible), jsonscan.Into("signature", &signature))
	if err := r.optional(".thinking", visible); err != nil {
		return err
	}
	if visible.Text() == "" && signature.Text() != "" {
		r.estimate(sealedTokens(signature))
	}
	return nil
}

// sealedTokens estimates encrypted thinking from the length of its base64: 0.205 tokens for each character over 150. This was measured
// on the reported usage of about 18,000 consecutive requests with signed thinking (Claude Opus 4.5, Opus 4.6 and Sonnet 4.5: 0.194 to
// 0.206).
func sealedTokens(v jsonscan.Value) int { return max(0, len(v.Plain())-150) * 205 / 1000 }

// imageURL reads {image_url: "…"}, {image_url: {url, detail}} and {file_id}.
func (r *reader) imageURL(v jsonscan.Value) error {
	var url, detail, id jsonscan.Value
	v.Pick(jsonscan.Into("image_url", &url), jsonscan.Into("detail", &detail), jsonscan.Into("file_id", &id))
	path := ".image_url"
	if url.IsObject() {
		inner := url
		inner.Pick(jsonscan.Into("url", &url), jsonscan.Into("detail", &detail))
		path = ".image_url.url"
	}
	if !url.IsString() && !id.Present() {
		return at(path, mismatch("a string", url))
	}
	m := dataURL(url)
	m.mime, m.detail = "image/*", detail.Text()
	r.media(m, formOpenAI)
	return nil
}

// file reads {file: {file_data, filename, file_id}} and the same members without the outer object.
func (r *reader) file(v jsonscan.Value) {
	if inner := v.Member("file"); inner.IsObject() {
		v = inner
	}
	r.add(v.Member("filename").Text())
	r.media(dataURL(v.Member("file_data")), formOpenAI)
}

// audio reads {input_audio: {data, format}}.
func (r *reader) audio(v jsonscan.Value) {
	data := v.Member("input_audio").Member("data")
	if !data.IsString() {
		r.unknown(v)
		return
	}
	r.media(media{mime: "audio/*", data: data.Plain()}, formOpenAI)
}

// document reads an Anthropic document with its title and context.
func (r *reader) document(v jsonscan.Value) error {
	for _, member := range []string{"title", "context"} {
		if err := r.optional("."+member, v.Member(member)); err != nil {
			return err
		}
	}
	return r.source(v, "")
}

// source reads the source of an Anthropic image or document: base64, a URL, an uploaded file, or the text itself. mime is the type if
// the source does not name it.
func (r *reader) source(v jsonscan.Value, mime string) error {
	source := v.Member("source")
	if !source.IsObject() {
		return at(".source", mismatch("an object", source))
	}
	var kind, mediaType, data, content jsonscan.Value
	source.Pick(jsonscan.Into("type", &kind), jsonscan.Into("media_type", &mediaType), jsonscan.Into("data", &data), jsonscan.Into("content", &content))
	switch kind.Text() {
	case "text":
		return at(".source", r.text(".data", data))
	case "content":
		return at(".source", r.content(".content", content))
	}
	if mediaType.IsString() {
		mime = mediaType.Text()
	}
	r.media(media{mime: mime, data: data.Plain()}, formAnthropic)
	return nil
}
