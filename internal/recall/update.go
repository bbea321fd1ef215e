package recall

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
)

// maxLine is how many characters of a text are kept.
const maxLine = 2000

// row is a line that comes into the index.
type row struct {
	text, role, tool string
	callID           string
	at, pos          int64
	cut              bool
}

// update adds what came into the record since it was indexed last. If the record has another path, it is indexed again. Where it has become
// shorter its host has rewritten it: what it held before stays.
func update(ctx context.Context, db *sql.DB, r core.Record, h core.Historian, tools map[string]session.ToolClass) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var path string
	var seen int64
	if err := tx.QueryRowContext(ctx, "SELECT path, seen FROM state").Scan(&path, &seen); err != nil {
		return err
	}
	if path != r.Path && path != "" {
		if _, err := tx.ExecContext(ctx, "DELETE FROM line; UPDATE state SET seen = -1, compacted = NULL"); err != nil {
			return err
		}
		seen = -1
	}
	known := map[string]bool{}
	if info, err := os.Stat(r.Path); err == nil && info.Size() < seen {
		if known, err = rewritten(ctx, tx); err != nil {
			return err
		}
		seen = -1
	}
	var rows []row
	newest, compacted := seen, sql.NullInt64{}
	err = h.History(ctx, r, true, func(e session.Entry) bool {
		pos := e.Offset
		if pos <= seen {
			return false
		}
		newest = max(newest, pos)
		if b := e.Boundary; b != nil && !b.Micro {
			if !compacted.Valid && b.ID != "" {
				compacted = sql.NullInt64{Int64: pos, Valid: true}
			}
			return true
		}
		for _, p := range slices.Backward(e.Content) {
			if row, ok := rowOf(p, e.At, pos); ok && !known[row.key()] {
				rows = append(rows, row)
			}
		}
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errRecord, err)
	}
	if newest == seen {
		return nil
	}
	if err := insert(ctx, tx, rows, tools); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE state SET path = ?, seen = ?, compacted = ifnull(?, compacted)", r.Path, newest, compacted); err != nil {
		return err
	}
	return tx.Commit()
}

// key tells a row from others of its session.
func (r row) key() string { return fmt.Sprintf("%d %s %d", r.at, r.role, len(r.text)) }

// rewritten makes all lines older than the record, and returns their keys.
func rewritten(ctx context.Context, tx *sql.Tx) (map[string]bool, error) {
	if _, err := tx.ExecContext(ctx, "UPDATE line SET pos = -1"); err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, "SELECT at, role, text FROM line")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]bool{}
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.at, &r.role, &r.text); err != nil {
			return nil, err
		}
		known[r.key()] = true
	}
	return known, rows.Err()
}

// insert adds rows, which come newest first.
func insert(ctx context.Context, tx *sql.Tx, rows []row, tools map[string]session.ToolClass) error {
	statement, err := tx.PrepareContext(ctx, "INSERT INTO line (text, role, tool, at, pos, cut) VALUES (?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer statement.Close()
	called := map[string]string{}
	for _, row := range slices.Backward(rows) {
		if row.role == "call" {
			called[row.callID] = row.tool
		}
		if row.role == "result" && row.tool == "" {
			row.tool = called[row.callID]
		}
		if row.role == "result" && tools[row.tool] == session.ReadTool { // it can be read again
			continue
		}
		if _, err := statement.ExecContext(ctx, row.text, row.role, row.tool, row.at, row.pos, row.cut); err != nil {
			return err
		}
	}
	return nil
}

// roles are the pieces that are kept, by what they are called.
var roles = map[session.PieceClass]string{session.PromptText: "user", session.AnswerText: "assistant", session.ToolCall: "call", session.ToolResult: "result"}

func rowOf(p session.Piece, at time.Time, pos int64) (row, bool) {
	role, ok := roles[p.Class]
	if !ok || strings.TrimSpace(p.Text) == "" {
		return row{}, false
	}
	r := row{text: p.Text, role: role, tool: p.Tool, callID: p.CallID, pos: pos}
	if !at.IsZero() {
		r.at = at.UnixMilli()
	}
	n := 0
	for i := range r.text {
		if n++; n > maxLine {
			r.text, r.cut = strings.Clone(r.text[:i]), true
			break
		}
	}
	return r, true
}
