package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Session is a session of some machine. Its id is the hash that the machine sent, its directory what the machine sent of the project.
type Session struct {
	core.SessionView
	Team    string `json:"team"`
	Machine string `json:"machine"`
}

// selectSessions reads sessions as scanSession scans them. A session of a long silence is idle, as on its own machine.
const selectSessions = `SELECT s.session, s.host, s.provider, s.model, s.project, s.usage, s.compactions, s.compacting, s.started_at, s.updated_at, s.ended_at,
	CASE WHEN s.ended_at IS NOT NULL THEN 'ended' WHEN s.gone OR clock_timestamp() - s.updated_at > make_interval(secs => $1) THEN 'idle' ELSE 'active' END,
	m.team, m.machine::text FROM ctxls.sessions s JOIN ctxls.machines m ON m.id = s.machine `

func scanSession(row pgx.CollectableRow) (s Session, err error) {
	var usage []byte
	var started, updated *time.Time
	err = row.Scan(&s.SessionID, &s.Host, &s.Provider, &s.Model, &s.CWD, &usage, &s.Compactions, &s.Compacting, &started, &updated, &s.EndedAt,
		&s.State, &s.Team, &s.Machine)
	if err == nil {
		err = json.Unmarshal(usage, &s.Usage)
	}
	if started != nil {
		s.StartedAt = *started
	}
	if updated != nil {
		s.UpdatedAt = *updated
	}
	const name = 100 // characters. Another machine wrote them
	for _, txt := range []*string{&s.SessionID, (*string)(&s.Host), &s.Provider, &s.Model, &s.CWD, &s.Team} {
		*txt = text.Sanitize(*txt, name)
	}
	s.Agents, s.WorkingSet = []core.AgentView{}, []string{}
	return s, err
}

// SessionFilter selects sessions. The zero value selects those that have not ended.
type SessionFilter struct {
	core.SessionFilter           // Folders are not known here, and select nothing
	Team               string    // "" is any
	Since              time.Time // updated since
}

// Sessions returns the sessions of all machines, the most recently updated first.
func (db *DB) Sessions(ctx context.Context, f SessionFilter) (found []Session, err error) {
	limit := &f.Limit
	if f.Limit == 0 {
		limit = nil
	}
	err = db.checked(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, selectSessions+`WHERE ($2 OR s.ended_at IS NULL) AND ($3 = '' OR s.host = $3) AND ($4 = '' OR m.team = $4) AND s.updated_at >= $5
			ORDER BY s.updated_at DESC, s.machine, s.no LIMIT $6`, session.IdleAfter.Seconds(), f.IncludeEnded, string(f.Host), f.Team, f.Since, limit)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, scanSession)
		return err
	})
	return found, err
}

// Session returns one session, by its id. An id that no machine has sent is CodeNotFound.
func (db *DB) Session(ctx context.Context, sess string) (s Session, err error) {
	err = db.checked(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, selectSessions+"WHERE s.session = $2", session.IdleAfter.Seconds(), sess)
		if err == nil {
			s, err = pgx.CollectOneRow(rows, scanSession)
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return &Error{coded.NotFound, "no machine has sent this session, or it is forgotten", ""}
		}
		return err
	})
	return s, err
}

// Samples returns the newest points of a session's history, oldest first.
func (db *DB) Samples(ctx context.Context, sess string, limit int) (samples []session.Sample, err error) {
	err = db.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `SELECT * FROM (SELECT x.at, x.tokens, x.window_tokens, CASE x.kind WHEN 'c' THEN 'compaction' WHEN 'e' THEN 'estimate' ELSE 'usage' END
			FROM ctxls.samples x JOIN ctxls.sessions s ON s.machine = x.machine AND s.no = x.session WHERE s.session = $1
			ORDER BY x.at DESC, x.seq DESC LIMIT $2) newest ORDER BY at`, sess, limit)
		if err != nil {
			return err
		}
		samples, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s session.Sample, err error) {
			return s, row.Scan(&s.At, &s.Tokens, &s.WindowTokens, &s.Kind)
		})
		return err
	})
	return samples, err
}

// Pushed returns when a machine pushed last; the zero time is never.
func (db *DB) Pushed(ctx context.Context) (at time.Time, err error) {
	err = db.checked(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var last *time.Time
		err := conn.QueryRow(ctx, "SELECT max(pushed_at) FROM ctxls.machines").Scan(&last)
		if last != nil {
			at = *last
		}
		return err
	})
	return at, err
}
