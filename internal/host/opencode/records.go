package opencode

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// Records finds the sessions in OpenCode's database. It implements core.Recorder.
//
// The database may have all of its content in the write-ahead log beside it, so it is read through SQLite and never copied.
// The connection is read-only.
type Records struct {
	dir string
}

// NewRecords returns the records of a user: below XDG_DATA_HOME where that is set, else below ~/.local/share.
func NewRecords(env host.Env) Records {
	data := env.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(env.Home, ".local", "share")
	}
	return Records{filepath.Join(data, "opencode")}
}

// Host returns Name.
func (Records) Host() session.Host { return Name }

// Dirs returns the directory of the database.
func (r Records) Dirs() []string { return []string{r.dir} }

// Find implements core.Recorder. Sub-agents have sessions of their own, which are read with the session at the top.
func (r Records) Find(ctx context.Context, since time.Time) ([]core.Record, error) {
	var records []core.Record
	err := r.query(ctx, func(rows *sql.Rows) error {
		var id string
		var updated int64
		err := rows.Scan(&id, &updated)
		records = append(records, core.Record{Key: session.Key{Host: Name, SessionID: id}, Path: r.database(), ModTime: time.UnixMilli(updated)})
		return err
	}, "SELECT id, time_updated FROM session WHERE ifnull(parent_id, '') = '' AND time_updated >= ? ORDER BY time_updated DESC", sinceMillis(since))
	return records, err
}

// At implements core.Recorder. A change of the database does not tell which session changed.
func (r Records) At(string) (core.Record, bool) { return core.Record{}, false }

// PolledFiles returns the files whose change tells that some session changed.
func (r Records) PolledFiles() []string { return []string{r.database(), r.database() + "-wal"} }

func sinceMillis(since time.Time) int64 {
	if since.IsZero() {
		return 0
	}
	return since.UnixMilli()
}

func (r Records) database() string { return filepath.Join(r.dir, "opencode.db") }

// busyMillis is how long a read waits for the host to finish a checkpoint, in milliseconds.
const busyMillis = "200"

// query calls visit for each row. A database that is not there has no rows.
func (r Records) query(ctx context.Context, visit func(*sql.Rows) error, query string, args ...any) error {
	switch info, err := os.Lstat(r.database()); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("the database is not a regular file")
	}
	place := filepath.ToSlash(r.database())
	if !strings.HasPrefix(place, "/") { // C:/…
		place = "/" + place
	}
	name := url.URL{Scheme: "file", Path: place, RawQuery: "mode=ro&_pragma=busy_timeout(" + busyMillis + ")&_pragma=query_only(1)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Bounds of one read of a session: the newest messages, and the parts of these that are no larger than partBytes. Larger ones
// are results of tools, whose text the gauge does not need.
const (
	maxMessages = 400
	partBytes   = 256 << 10
)

// Read implements core.Recorder. A row of the database holds what the host tells its plugins of a message, so the events are
// those that the plugin would have brought.
func (r Records) Read(ctx context.Context, rec core.Record, brief bool) ([]session.Event, error) {
	main := session.Event{Host: Name, SessionID: rec.SessionID, Kind: session.RecordRead, Name: "record", HostPID: rec.HostPID}
	var created int64
	err := r.query(ctx, func(rows *sql.Rows) error { return rows.Scan(&main.CWD, &main.Title, &created) },
		"SELECT directory, title, time_created FROM session WHERE id = ?", rec.SessionID)
	if err != nil {
		return nil, err
	}
	main.At = time.UnixMilli(created)
	answers, err := r.messages(ctx, rec.SessionID)
	if err != nil {
		return nil, err
	}
	events := append([]session.Event{main}, answers...)
	agents, err := r.agents(ctx, rec.SessionID)
	return append(events, agents...), err
}

// row is a message as the database has it.
type row struct{ id, data string }

// rows returns the newest messages of a session, the newest first.
func (r Records) rows(ctx context.Context, id string, most int) (rows []row, err error) {
	err = r.query(ctx, func(found *sql.Rows) error {
		var m row
		err := found.Scan(&m.id, &m.data)
		rows = append(rows, m)
		return err
	}, "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT ?", id, most)
	return rows, err
}

// parts returns the parts of the messages from one on, by message, each list as JSON. Parts of more than maxBytes are left out.
func (r Records) parts(ctx context.Context, id, from string, maxBytes int) (map[string][]byte, error) {
	parts := map[string][][]byte{}
	if err := r.query(ctx, func(rows *sql.Rows) error {
		var message, data string
		err := rows.Scan(&message, &data)
		parts[message] = append(parts[message], []byte(data))
		return err
	}, "SELECT message_id, data FROM part WHERE session_id = ? AND message_id >= ? AND length(data) <= ? ORDER BY id", id, from, maxBytes); err != nil {
		return nil, err
	}
	lists := make(map[string][]byte, len(parts))
	for message, all := range parts {
		lists[message] = slices.Concat([]byte{'['}, bytes.Join(all, []byte{','}), []byte{']'})
	}
	return lists, nil
}

// messages returns the events of one session's messages, oldest first.
func (r Records) messages(ctx context.Context, id string) ([]session.Event, error) {
	newest, err := r.rows(ctx, id, maxMessages)
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	parts, err := r.parts(ctx, id, newest[len(newest)-1].id, partBytes)
	if err != nil {
		return nil, err
	}
	var events []session.Event
	for _, m := range slices.Backward(newest) {
		if ev, ok := recorded(id, m.id, []byte(m.data), parts[m.id]); ok {
			events = append(events, ev)
		}
	}
	return events, nil
}

// recorded returns the event of one message; false where it says nothing. parts is the array of its parts.
func recorded(sessionID, id string, data, parts []byte) (session.Event, bool) {
	var m message
	m.read(data)
	ev := session.Event{Host: Name, SessionID: sessionID, Kind: session.Seen, Name: "record"}
	if transcript.String(m.role) == "user" {
		var model []byte
		transcript.Pick(data, transcript.Field{Name: "model", Value: &model})
		ev.Kind, ev.At, ev.Model, ev.PromptID = session.PromptSubmitted, m.created(), modelID(model), id
		ev.Prompt, ev.Content, ev.Machine = spoken(parts)
		return ev, true
	}
	p := payload{parts: parts}
	p.message(data, &ev)
	if ev.Kind == session.Seen {
		return ev, false
	}
	if ev.At = m.completed(); ev.At.IsZero() {
		ev.At = m.created()
	}
	if len(ev.Reports) > 0 {
		ev.Reports[0].MessageID, ev.Reports[0].Provenance = id, session.ProvenanceTranscript
	}
	for _, use := range partPaths(parts, m.cwd()) {
		use.At = m.created()
		ev.Paths = append(ev.Paths, use)
	}
	ev.Results = partResults(parts)
	return ev, true
}

// agents returns the events of the sub-agents that were active last.
func (r Records) agents(ctx context.Context, id string) ([]session.Event, error) {
	type agent struct{ id, kind string }
	var found []agent
	if err := r.query(ctx, func(rows *sql.Rows) error {
		var a agent
		err := rows.Scan(&a.id, &a.kind)
		found = append(found, a)
		return err
	}, "SELECT id, ifnull(agent, '') FROM session WHERE parent_id = ? ORDER BY time_updated DESC LIMIT ?", id, session.MaxAgents); err != nil {
		return nil, err
	}
	var events []session.Event
	for _, a := range slices.Backward(found) {
		answers, err := r.messages(ctx, a.id)
		if err != nil {
			return nil, err
		}
		for i := range answers {
			ev := &answers[i]
			ev.SessionID, ev.AgentID, ev.AgentType, ev.Content, ev.Paths = id, a.id, a.kind, nil, nil
			switch ev.Kind {
			case session.PromptSubmitted:
				ev.Kind = session.AgentStarted
			case session.UsageReported:
				if i == len(answers)-1 {
					ev.Kind = session.AgentFinished
				}
			}
		}
		events = append(events, answers...)
	}
	return events, nil
}

// Recognize implements core.Recorder: a database is no record of one session.
func (Records) Recognize(string) (core.Record, bool) { return core.Record{}, false }

// Turns implements core.Recorder.
func (r Records) Turns(ctx context.Context, rec core.Record) ([]core.RecordedTurn, error) {
	var turns transcript.Turns
	err := r.query(ctx, func(rows *sql.Rows) error {
		var data string
		if err := rows.Scan(&data); err != nil {
			return err
		}
		var m message
		m.read([]byte(data))
		switch report, ok := m.report(); {
		case transcript.String(m.role) == "user":
			turns.Begin()
		case ok && !m.isSummary():
			turns.Report(report.At, report.Tokens)
		}
		return nil
	}, "SELECT data FROM message WHERE session_id = ? ORDER BY time_created, id", rec.SessionID)
	return turns.All(), err
}
