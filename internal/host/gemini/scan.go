package gemini

import (
	"context"
	"slices"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Scan visits what the window holds by the transcript at path: the messages back to where the host last wrote down all of its
// history at once, and those of that list. It does so when a session begins, is resumed or compacted, when it blanks out old
// results, and when a turn is broken off.
func (Adapter) Scan(ctx context.Context, path string, progress func(done, total int64), visit func(session.Entry) bool) error {
	s := scan{visit: visit, seen: map[string]bool{}}
	return transcript.Scan(ctx, path, transcript.Format{Entry: s.line}, progress, func(session.Entry) bool { return !s.over })
}

// scan takes lines newest first. A message is written again whenever it has changed: what was written last holds.
type scan struct {
	visit    func(session.Entry) bool
	seen     map[string]bool // ids of messages
	rewound  string          // the id of the oldest message that was taken back, until it is met
	reported bool            // an answer with figures was visited
	outdated bool            // older figures are of a window that is gone
	over     bool
}

// line takes one line. Its entries are visited here, since a line may hold many; what it returns only has the scan ask
// whether it is over.
func (s *scan) line(data []byte) (session.Entry, bool) {
	var set, rewind, list []byte
	transcript.Pick(data, transcript.Field{Name: "$set", Value: &set}, transcript.Field{Name: "$rewindTo", Value: &rewind})
	transcript.Pick(set, transcript.Field{Name: "messages", Value: &list})
	switch {
	case rewind != nil && s.rewound == "": // else it lies within what was taken back later
		s.rewound = transcript.String(rewind)
		s.outdated = s.outdated || !s.reported
	case list != nil:
		s.history(list)
		s.over = true
	case set == nil:
		s.message(data)
	}
	return session.Entry{}, s.over
}

// history takes all messages of a list. Figures in it are of requests that were made when the history was another.
func (s *scan) history(list []byte) {
	var messages [][]byte
	transcript.Elements(list, func(message []byte) bool {
		messages = append(messages, message)
		return true
	})
	s.outdated = true
	for _, message := range slices.Backward(messages) {
		s.message(message)
	}
}

func (s *scan) message(data []byte) {
	var key, kind []byte
	transcript.Pick(data, transcript.Field{Name: "id", Value: &key}, transcript.Field{Name: "type", Value: &kind})
	id := transcript.String(key)
	if s.over || id == "" || kind == nil || s.seen[id] {
		return
	}
	s.seen[id] = true
	if s.rewound != "" {
		if id == s.rewound {
			s.rewound = ""
		}
		return
	}
	e, _ := entry(data)
	e = session.Entry{At: e.At, Report: e.Report, Content: content(data)}
	if s.outdated {
		e.Report = nil
	}
	if e.Report != nil {
		e.Report.MessageID, s.reported = id, true
	}
	if e.Report != nil || len(e.Content) > 0 {
		s.over = !s.visit(e)
	}
}
