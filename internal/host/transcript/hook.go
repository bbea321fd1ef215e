package transcript

import (
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Hook reads what most hosts give a hook on stdin: the session, the event, the directory, and the wanted members. name is the name of
// the event if the payload contains none. kinds maps the host's events; an event that is not listed is Seen. A payload over
// core.MaxPayload, a payload that is no JSON object, and one without session_id or event are errors with coded.Invalid. Members of an
// unexpected type count as missing, since hosts change.
func Hook(host session.Host, kinds map[string]session.Kind, name string, data []byte, wanted ...Field) (session.Event, error) {
	var id, event, cwd []byte
	if err := Payload(data, append(wanted,
		Field{Name: "session_id", Value: &id},
		Field{Name: "hook_event_name", Value: &event},
		Field{Name: "cwd", Value: &cwd})...); err != nil {
		return session.Event{}, err
	}
	ev := session.Event{Host: host, SessionID: String(id), Name: String(event), CWD: String(cwd)}
	if ev.Name == "" {
		ev.Name = name
	}
	switch {
	case ev.SessionID == "":
		return session.Event{}, coded.Field("session_id", "want a string that is not empty")
	case ev.Name == "":
		return session.Event{}, coded.Field("hook_event_name", "want the name of an event")
	}
	if ev.Kind = kinds[ev.Name]; ev.Kind == "" {
		ev.Kind = session.Seen
	}
	return ev, nil
}
