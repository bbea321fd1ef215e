package qwen

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// format returns how the lines of the record at path are read. A sub-agent has a record of its own, whose name begins with "agent-".
func format(path string) transcript.Format {
	ofAgent := strings.HasPrefix(filepath.Base(path), "agent-")
	return transcript.Format{
		Entry:  func(data []byte) (session.Entry, bool) { return entry(data, ofAgent) },
		Enough: func(e session.Entry) bool { return e.Report != nil || e.Boundary != nil },
		History: func(line []byte) bool {
			return bytes.Contains(line, []byte(`"functionCall"`)) || bytes.Contains(line, []byte(`"toolCallResult"`)) || bytes.Contains(line, compression)
		},
	}
}

var compression = []byte(`"chat_compression"`)

// line is the raw members of a line that mean something here.
type line struct {
	uuid, kind, subtype, at, cwd, model, message, usage, result, system, sidechain []byte
}

func (l *line) read(data []byte) bool {
	return transcript.Pick(data,
		transcript.Field{Name: "uuid", Value: &l.uuid},
		transcript.Field{Name: "type", Value: &l.kind},
		transcript.Field{Name: "subtype", Value: &l.subtype},
		transcript.Field{Name: "timestamp", Value: &l.at},
		transcript.Field{Name: "cwd", Value: &l.cwd},
		transcript.Field{Name: "model", Value: &l.model},
		transcript.Field{Name: "message", Value: &l.message},
		transcript.Field{Name: "usageMetadata", Value: &l.usage},
		transcript.Field{Name: "toolCallResult", Value: &l.result},
		transcript.Field{Name: "systemPayload", Value: &l.system},
		transcript.Field{Name: "isSidechain", Value: &l.sidechain})
}

// entry decodes one line.
func entry(data []byte, ofAgent bool) (e session.Entry, ok bool) {
	var l line
	if !l.read(data) || transcript.IsTrue(l.sidechain) != ofAgent {
		return e, false
	}
	e.At = transcript.Time(l.at)
	switch transcript.String(l.kind) {
	case "assistant":
		e.Report, e.Content = l.report(), pieces(l.message)
		eachPart(l.message, func(p part) {
			if p.call != nil {
				id, name, args := p.named()
				e.Paths = append(e.Paths, callPaths(id, name, args, transcript.String(l.cwd))...)
			}
		})
		for i := range e.Paths {
			e.Paths[i].At = e.At
		}
	case "user":
		e.Content = pieces(l.message)
	case "tool_result":
		e.Content = pieces(l.message)
		var id, status []byte
		transcript.Pick(l.result, transcript.Field{Name: "callId", Value: &id}, transcript.Field{Name: "status", Value: &status})
		e.Results = result(id, status)
	case "system":
		if transcript.String(l.subtype) == "chat_compression" {
			e.Boundary = l.boundary()
		}
	}
	return e, e.Report != nil || e.Boundary != nil || len(e.Paths)+len(e.Results)+len(e.Content) > 0
}

// report returns the usage of an answer, nil where it states none. The prompt includes what was read from the cache: a model that
// reported 30,000 tokens, 22,500 of them cached, is on record with 30,000.
func (l *line) report() *session.Report {
	var prompt, output []byte
	transcript.Pick(l.usage,
		transcript.Field{Name: "promptTokenCount", Value: &prompt},
		transcript.Field{Name: "candidatesTokenCount", Value: &output})
	n := transcript.Int(prompt)
	if n == 0 {
		return nil
	}
	return &session.Report{
		At: transcript.Time(l.at), Tokens: n, Provenance: session.ProvenanceTranscript, Model: transcript.String(l.model),
		Tuple: session.UsageTuple{Input: n, Output: transcript.Int(output)},
	}
}

// boundary reads the line of a compaction that succeeded (its source: CompressionStatus, 1). What is left of the conversation, with
// the summary and the files that the host adds again, is its summary here.
func (l *line) boundary() *session.Boundary {
	var info, history, before, after, status, trigger []byte
	transcript.Pick(l.system, transcript.Field{Name: "info", Value: &info}, transcript.Field{Name: "compressedHistory", Value: &history})
	transcript.Pick(info,
		transcript.Field{Name: "originalTokenCount", Value: &before},
		transcript.Field{Name: "newTokenCount", Value: &after},
		transcript.Field{Name: "compressionStatus", Value: &status},
		transcript.Field{Name: "triggerReason", Value: &trigger})
	if transcript.Int(status) != 1 {
		return nil
	}
	var left []string
	transcript.Elements(history, func(message []byte) bool {
		eachPart(message, func(p part) { left = append(left, p.text) })
		return true
	})
	return &session.Boundary{
		ID: transcript.String(l.uuid), At: transcript.Time(l.at), PreTokens: transcript.Int(before), PostTokens: transcript.Int(after),
		Summary: strings.Join(left, "\n"), Automatic: transcript.String(trigger) == "token_limit",
	}
}
