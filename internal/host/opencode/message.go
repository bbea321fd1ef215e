package opencode

import (
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// message is the raw members of the info of a message that mean something here.
type message struct {
	id, session, role, mode, agent, summary, failure []byte
	model, tokens, times, path                       []byte
}

func (m *message) read(info []byte) {
	transcript.Pick(info,
		transcript.Field{Name: "id", Value: &m.id},
		transcript.Field{Name: "sessionID", Value: &m.session},
		transcript.Field{Name: "role", Value: &m.role},
		transcript.Field{Name: "mode", Value: &m.mode},
		transcript.Field{Name: "agent", Value: &m.agent},
		transcript.Field{Name: "summary", Value: &m.summary},
		transcript.Field{Name: "error", Value: &m.failure},
		transcript.Field{Name: "modelID", Value: &m.model},
		transcript.Field{Name: "tokens", Value: &m.tokens},
		transcript.Field{Name: "time", Value: &m.times},
		transcript.Field{Name: "path", Value: &m.path})
	if string(m.failure) == "null" {
		m.failure = nil
	}
}

// isSummary reports whether the message is the summary of a compaction.
func (m *message) isSummary() bool {
	return transcript.IsTrue(m.summary) || transcript.String(m.mode) == "compaction" || transcript.String(m.agent) == "compaction"
}

func (m *message) cwd() string {
	var cwd []byte
	transcript.Pick(m.path, transcript.Field{Name: "cwd", Value: &cwd})
	return transcript.String(cwd)
}

func (m *message) completed() time.Time {
	var at []byte
	transcript.Pick(m.times, transcript.Field{Name: "completed", Value: &at})
	return transcript.Millis(at)
}

func (m *message) created() time.Time {
	var at []byte
	transcript.Pick(m.times, transcript.Field{Name: "created", Value: &at})
	return transcript.Millis(at)
}

// report returns the usage of an answer; ok is false while there is none.
func (m *message) report() (session.Report, bool) {
	var total, input, output, cache, read, write []byte
	transcript.Pick(m.tokens,
		transcript.Field{Name: "total", Value: &total},
		transcript.Field{Name: "input", Value: &input},
		transcript.Field{Name: "output", Value: &output},
		transcript.Field{Name: "cache", Value: &cache})
	transcript.Pick(cache, transcript.Field{Name: "read", Value: &read}, transcript.Field{Name: "write", Value: &write})
	tuple := session.UsageTuple{Input: transcript.Int(input), CacheRead: transcript.Int(read), CacheWrite: transcript.Int(write), Output: transcript.Int(output)}
	given := tuple.Input + tuple.CacheRead + tuple.CacheWrite
	tokens := given + tuple.Output // older versions state no total
	if n := transcript.Int(total); n > 0 {
		tokens, tuple.Output = n, max(n-given, 0) // with what was thought, which the host counts apart
	}
	at := m.completed()
	if at.IsZero() {
		at = m.created()
	}
	return session.Report{
		At: at, Tuple: tuple, Tokens: tokens, Provenance: session.ProvenanceReported,
		Model: transcript.String(m.model), MessageID: transcript.String(m.id),
	}, tokens > 0 && !at.IsZero()
}

// history decodes the conversation so far, which the host shows before each request: the files that its tools worked on, and
// the last usage. What lies before a compaction is not in it.
func (p *payload) history(ev *session.Event) {
	ev.Kind = session.HistorySeen
	var list []byte
	transcript.Pick(p.output, transcript.Field{Name: "messages", Value: &list})
	transcript.Elements(list, func(element []byte) bool {
		var info, parts []byte
		transcript.Pick(element, transcript.Field{Name: "info", Value: &info}, transcript.Field{Name: "parts", Value: &parts})
		var m message
		m.read(info)
		if ev.SessionID == "" {
			ev.SessionID = transcript.String(m.session)
		}
		if transcript.String(m.role) != "assistant" || m.isSummary() {
			return true
		}
		cwd := m.cwd()
		if cwd == "" {
			cwd = ev.CWD
		}
		for _, use := range partPaths(parts, cwd) {
			use.At = m.created()
			ev.Paths = append(ev.Paths, use)
		}
		if report, ok := m.report(); ok {
			ev.Reports = []session.Report{report}
		}
		return true
	})
	if excess := len(ev.Paths) - session.MaxWorkingSet; excess > 0 {
		ev.Paths = ev.Paths[excess:]
	}
}
