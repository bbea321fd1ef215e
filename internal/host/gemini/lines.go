package gemini

import (
	"bytes"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// format says how the lines of a transcript are read: answers with their figures and the files of their tools, and the title.
// The file holds the main chain alone; sub-agents have files of their own. What it adds to the conversation is told by the
// hooks, and left out here.
var format = transcript.Format{
	Entry:  entry,
	Enough: func(e session.Entry) bool { return e.Report != nil },
	History: func(line []byte) bool {
		return bytes.Contains(line, []byte(`"toolCalls"`)) || bytes.Contains(line, []byte(`"summary"`))
	},
}

// entry decodes one line: an answer, or a change of what the file says of the session.
func entry(data []byte) (e session.Entry, ok bool) {
	var kind, at, model, tokens, calls, set []byte
	if !transcript.Pick(data,
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "timestamp", Value: &at},
		transcript.Field{Name: "model", Value: &model},
		transcript.Field{Name: "tokens", Value: &tokens},
		transcript.Field{Name: "toolCalls", Value: &calls},
		transcript.Field{Name: "$set", Value: &set}) {
		return e, false
	}
	e.At = transcript.Time(at)
	if set != nil {
		var summary []byte
		transcript.Pick(set, transcript.Field{Name: "summary", Value: &summary})
		e.Title = transcript.String(summary)
	}
	if transcript.String(kind) == "gemini" {
		var input, output []byte
		transcript.Pick(tokens, transcript.Field{Name: "input", Value: &input}, transcript.Field{Name: "output", Value: &output})
		// Of the figures "input" includes what was cached: it is promptTokenCount. The tuple is that of AfterModel, whose
		// report this one repeats.
		if n := transcript.Int(input); n > 0 && !e.At.IsZero() {
			e.Report = &session.Report{
				At: e.At, Tuple: session.UsageTuple{Input: n, Output: transcript.Int(output)}, Tokens: n,
				Provenance: session.ProvenanceTranscript, Model: transcript.String(model),
			}
		}
		transcript.Elements(calls, func(call []byte) bool {
			e.Paths = append(e.Paths, callPaths(call)...)
			return true
		})
	}
	return e, e.Report != nil || e.Title != "" || len(e.Paths) > 0
}

// callPaths returns the files of a call as the transcript records it, which is without the directory that it was made in.
func callPaths(call []byte) []session.PathUse {
	var name, args, status, at []byte
	transcript.Pick(call,
		transcript.Field{Name: "name", Value: &name},
		transcript.Field{Name: "args", Value: &args},
		transcript.Field{Name: "status", Value: &status},
		transcript.Field{Name: "timestamp", Value: &at})
	if transcript.String(status) != "success" {
		return nil
	}
	paths := toolPaths(transcript.String(name), args, "")
	for i := range paths {
		paths[i].At = transcript.Time(at)
	}
	return paths
}
