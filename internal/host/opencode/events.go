package opencode

import (
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// event decodes one event of the host's bus.
func (a *Adapter) event(p *payload, ev *session.Event) {
	var kind, properties, sess, info, part []byte
	transcript.Pick(p.event, transcript.Field{Name: "type", Value: &kind}, transcript.Field{Name: "properties", Value: &properties})
	transcript.Pick(properties,
		transcript.Field{Name: "sessionID", Value: &sess},
		transcript.Field{Name: "info", Value: &info},
		transcript.Field{Name: "part", Value: &part})
	ev.Name, ev.SessionID = transcript.String(kind), transcript.String(sess)
	switch ev.Name {
	case eventCreated, eventUpdated, eventDeleted:
		a.session(info, ev)
	case "session.compacted":
		ev.Kind = session.CompactionDone
	case "session.idle":
		ev.Kind = session.TurnFinished
	case "session.error":
		ev.Kind = session.TurnFailed
	case "message.updated":
		p.message(info, ev)
	case "message.part.updated":
		failedTool(part, ev)
	}
}

// session decodes what is said of a session itself. Its tokens are the sum over all requests, not what the window holds.
func (a *Adapter) session(info []byte, ev *session.Event) {
	var id, parent, title, directory, agent []byte
	transcript.Pick(info,
		transcript.Field{Name: "id", Value: &id},
		transcript.Field{Name: "parentID", Value: &parent},
		transcript.Field{Name: "title", Value: &title},
		transcript.Field{Name: "directory", Value: &directory},
		transcript.Field{Name: "agent", Value: &agent})
	if ev.SessionID == "" {
		ev.SessionID = transcript.String(id)
	}
	if dir := transcript.String(directory); dir != "" {
		ev.CWD = dir
	}
	above := transcript.String(parent)
	if above != "" {
		a.children.learn(ev.SessionID, above, transcript.String(agent))
	} else {
		ev.Title = transcript.String(title)
	}
	switch {
	case ev.Name == eventDeleted:
		ev.Kind = session.SessionDeleted
	case ev.Name == eventCreated && above != "":
		ev.Kind = session.AgentStarted
	case ev.Name == eventCreated:
		ev.Kind = session.SessionStarted
	}
}

// message decodes what is said of a message. An answer states its usage when it is complete; what it is made of is appended
// to the conversation with it, since only then do its calls have their results.
func (p *payload) message(info []byte, ev *session.Event) {
	var m message
	m.read(info)
	if ev.SessionID == "" {
		ev.SessionID = transcript.String(m.session)
	}
	if dir := m.cwd(); dir != "" {
		ev.CWD = dir
	}
	switch {
	case transcript.String(m.role) != "assistant":
	case m.isSummary():
		// Its tokens are those of the request for the summary. The host writes it before it says that it compacted.
		if at := m.completed(); !at.IsZero() && len(m.failure) == 0 {
			ev.Kind = session.CompactionDone
			ev.CompactedBy = &session.Boundary{At: at, Summary: answerText(p.parts)}
		}
	default:
		report, ok := m.report()
		if !ok {
			return
		}
		ev.Kind, ev.Model = session.UsageReported, report.Model
		ev.Reports, ev.Content = []session.Report{report}, answered(p.parts)
	}
}

// failedTool decodes a call that failed: the host calls no hook for it.
func failedTool(part []byte, ev *session.Event) {
	var sess, kind, callID, state, status []byte
	transcript.Pick(part,
		transcript.Field{Name: "sessionID", Value: &sess},
		transcript.Field{Name: "type", Value: &kind},
		transcript.Field{Name: "callID", Value: &callID},
		transcript.Field{Name: "state", Value: &state})
	if ev.SessionID == "" {
		ev.SessionID = transcript.String(sess)
	}
	transcript.Pick(state, transcript.Field{Name: "status", Value: &status})
	if transcript.String(kind) == "tool" && transcript.String(status) == "error" {
		ev.Kind, ev.Results = session.ToolFinished, result(callID, true)
	}
}
