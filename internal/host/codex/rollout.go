package codex

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// format returns how the lines of the rollout at path are read. A thread has a rollout of its own, whose name ends in the
// thread's id.
func format(path string) transcript.Format {
	thread := threadOf(path)
	return transcript.Format{
		Entry:  func(data []byte) (session.Entry, bool) { return entry(data, thread) },
		Enough: secondResponse(),
		History: func(data []byte) bool {
			return bytes.Contains(data, itemCompleted) && slices.ContainsFunc(itemsWithPaths, func(kind []byte) bool { return bytes.Contains(data, kind) })
		},
	}
}

// threadOf returns the id in which the name of a rollout ends.
func threadOf(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	return name[max(0, len(name)-len("01a1fd86-50af-7d62-a5b8-a86dbbf4e86f")):]
}

// secondResponse returns a function that tells, of entries that come newest first, the first one that is of another response than
// the last: the figures of a response may stand behind what came after it.
func secondResponse() func(session.Entry) bool {
	var last *session.Report
	return func(e session.Entry) bool {
		switch {
		case e.Boundary != nil:
			return true
		case e.Report == nil || e.Report.Tuple.IsZero():
			return false
		case last == nil:
			last = e.Report
		}
		return e.Report.Tuple != last.Tuple
	}
}

var (
	itemCompleted  = []byte(`"item_completed"`)
	itemsWithPaths = [][]byte{[]byte(`"CommandExecution"`), []byte(`"FileChange"`), []byte(`"ImageView"`), []byte(`"McpToolCall"`)}
)

// entry decodes one line of a thread's rollout.
func entry(data []byte, thread string) (session.Entry, bool) {
	var at, kind, payload, metadata []byte
	if !transcript.Pick(data,
		transcript.Field{Name: "timestamp", Value: &at},
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "payload", Value: &payload},
		transcript.Field{Name: "metadata", Value: &metadata}) {
		return session.Entry{}, false
	}
	e := session.Entry{At: transcript.Time(at)}
	switch transcript.String(kind) {
	case "token_usage_record":
		record(&e, payload, thread)
	case "event_msg":
		event(&e, payload)
	case "compacted":
		var id []byte
		transcript.Pick(payload, transcript.Field{Name: "window_id", Value: &id})
		e.Boundary = &session.Boundary{ID: transcript.String(id), At: e.At}
	case "response_item":
		var summary []byte
		transcript.Pick(metadata, transcript.Field{Name: "compaction_output", Value: &summary})
		if !transcript.IsTrue(summary) { // the summary is no part of the conversation that it is made of
			e.Content = item(payload)
		}
	}
	return e, !isEmpty(e)
}

// record reads the line in which the host notes the usage of a response as soon as it has it: before the calls of the response
// are run, and only of its own thread.
func record(e *session.Entry, payload []byte, thread string) {
	var of, usage []byte
	transcript.Pick(payload, transcript.Field{Name: "thread_id", Value: &of}, transcript.Field{Name: "usage", Value: &usage})
	if id := transcript.String(of); id == "" || id == thread {
		e.Report = report(usage, e.At)
	}
}

// event reads a line of what the host told its own screen.
func event(e *session.Entry, payload []byte) {
	var kind, info, window, done, problem []byte
	transcript.Pick(payload,
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "info", Value: &info},
		transcript.Field{Name: "model_context_window", Value: &window},
		transcript.Field{Name: "item", Value: &done},
		transcript.Field{Name: "error", Value: &problem})
	switch transcript.String(kind) {
	case "task_started":
		e.Limits.WindowTokens = transcript.Int(window)
	case "token_count":
		count(e, info)
	case "item_completed":
		e.Paths = itemPaths(done)
		for i := range e.Paths {
			e.Paths[i].At = e.At
		}
	case "error":
		refusal(e, payload)
	case "task_complete":
		refusal(e, problem)
	}
}

// count reads the line that follows a response and the results of its calls, and that is repeated now and then. total_token_usage
// in it is the sum of all responses, and says nothing of the window.
func count(e *session.Entry, info []byte) {
	var usage, window []byte
	transcript.Pick(info,
		transcript.Field{Name: "last_token_usage", Value: &usage},
		transcript.Field{Name: "model_context_window", Value: &window})
	e.Limits.WindowTokens = transcript.Int(window)
	if e.Report = report(usage, e.At); e.Report != nil {
		e.Report.Late = true
	}
}

// refusal takes note of a request that was too long. The host keeps nothing of what the provider said but that.
func refusal(e *session.Entry, problem []byte) {
	var info []byte
	transcript.Pick(problem, transcript.Field{Name: "codex_error_info", Value: &info})
	if transcript.String(info) == "context_window_exceeded" {
		e.Limit = &session.LimitError{}
	}
}

// report reads a usage, nil where there is none. As everywhere with OpenAI, what was read from the cache is part of the input.
// What the host works out by itself after a compaction is a total without an input; merge makes use of it.
func report(usage []byte, at time.Time) *session.Report {
	var input, read, write, output, total []byte
	transcript.Pick(usage,
		transcript.Field{Name: "input_tokens", Value: &input},
		transcript.Field{Name: "cached_input_tokens", Value: &read},
		transcript.Field{Name: "cache_write_input_tokens", Value: &write},
		transcript.Field{Name: "output_tokens", Value: &output},
		transcript.Field{Name: "total_tokens", Value: &total})
	if transcript.Int(total) == 0 {
		return nil
	}
	return &session.Report{
		At: at, Tokens: transcript.Int(total), Provenance: session.ProvenanceTranscript,
		Tuple: session.UsageTuple{
			Input: transcript.Int(input), CacheRead: transcript.Int(read), CacheWrite: transcript.Int(write), Output: transcript.Int(output),
		},
	}
}

// merge joins a compaction with the host's estimate of what it left, which comes a few lines later. It drops the usage of the
// request that made the summary, which comes right before, and estimates that are about nothing: after a refused request the host
// takes the window for full, and after going back a few turns it guesses.
func merge(entries []session.Entry) []session.Entry {
	var boundary *session.Boundary
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Boundary != nil:
			boundary = e.Boundary
			dropReports(entries[:i])
		case e.Report != nil && e.Report.Tuple.IsZero():
			if boundary != nil {
				boundary.PostTokens = e.Report.Tokens
			}
			e.Report, boundary = nil, nil
		case e.Report != nil:
			boundary = nil
		}
	}
	return slices.DeleteFunc(entries, isEmpty)
}

// dropReports drops the last report and its repeats, where nothing was said since.
func dropReports(entries []session.Entry) {
	var last *session.Report
	for i := len(entries) - 1; i >= 0 && entries[i].Content == nil && entries[i].Boundary == nil; i-- {
		if rep := entries[i].Report; rep != nil {
			if last == nil {
				last = rep
			}
			if rep.Tuple != last.Tuple {
				return
			}
			entries[i].Report = nil
		}
	}
}

func isEmpty(e session.Entry) bool {
	return e.Report == nil && e.Boundary == nil && e.Limit == nil && e.Turn == nil && e.Limits == (model.Limits{}) && len(e.Paths) == 0 && len(e.Content) == 0
}
