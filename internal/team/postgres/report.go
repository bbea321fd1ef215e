package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Report is the figures over all tasks of all machines in a window of time.
type Report struct {
	core.FleetReport
	Machines int          `json:"machines"`        // that have ever pushed
	Alert    *fleet.Alert `json:"alert"`           // null where few enough tasks exceed the threshold
	By       string       `json:"by,omitempty"`    // what Groups are by
	Groups   []Group      `json:"groups,omitzero"` // the one with the most tasks first
}

// Group is the figures of the tasks that have something in common.
type Group struct {
	Name       string  `json:"name"` // empty is unknown
	Tasks      int     `json:"tasks"`
	Exceedance float64 `json:"exceedance"` // share of tasks above the threshold, 0–1
	Average    int     `json:"averageTokens"`
	P50Tokens  int     `json:"p50Tokens"`
	P90Tokens  int     `json:"p90Tokens"`
	P99Tokens  int     `json:"p99Tokens"`
	MaxTokens  int     `json:"maxTokens"`
}

// groupings are what a report can be by, as expressions.
var groupings = map[string]string{"team": "m.team", "model": "t.model", "host": "t.host", "project": "t.project"}

// Groupings lists what a report can be by.
var Groupings = []string{"team", "model", "host", "project"}

// figures are the figures of a set of tasks, in the order in which scanFigures scans them. percentile_disc is the nearest rank, as ctxls takes it.
const figures = `count(*), count(*) FILTER (WHERE t.tokens > $2), coalesce(round(avg(t.tokens)), 0)::bigint, coalesce(max(t.tokens), 0),
	coalesce(percentile_disc(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY t.tokens), '{0,0,0}')`

// Report works out the figures of the tasks since an instant, in the database. by is one of Groupings, or "".
func (db *DB) Report(ctx context.Context, since time.Time, by string, cfg settings.MetricsConfig) (r Report, err error) {
	expression, known := groupings[by]
	if by != "" && !known {
		return r, coded.Errorf(coded.Invalid, "a report is by one of %v, got %q", Groupings, by)
	}
	r.ThresholdTokens, r.By, r.TaskTokens = cfg.ThresholdTokens, by, []int{}
	err = db.checked(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			exceeding, ranks := 0, []int{}
			err := tx.QueryRow(ctx, "SELECT "+figures+", min(t.at) FROM ctxls.tasks t WHERE t.at >= $1", since, cfg.ThresholdTokens).
				Scan(&r.Tasks, &exceeding, &r.AverageTokens, &r.MaxTokens, &ranks, &r.Since)
			if err != nil {
				return err
			}
			r.P50Tokens, r.P90Tokens, r.P99Tokens = ranks[0], ranks[1], ranks[2]
			sums := fleet.TaskSums{Tasks: r.Tasks, Exceeding: exceeding}
			r.P90ExceedanceRate = sums.Rate()
			if alert, due := (fleet.AlertGate{}).Due(sums, cfg, time.Time{}); due {
				r.Alert = &alert
			}
			if err := tx.QueryRow(ctx, "SELECT count(*), coalesce(sum(trim_operations), 0)::bigint, coalesce(sum(trimmed_tokens), 0)::bigint FROM ctxls.machines").
				Scan(&r.Machines, &r.TrimOperations, &r.TrimmedTokens); err != nil {
				return err
			}
			if err := tx.QueryRow(ctx, "SELECT count(*), coalesce(sum(compactions), 0)::bigint FROM ctxls.sessions WHERE updated_at >= $1", since).
				Scan(&r.Sessions, &r.Compactions); err != nil {
				return err
			}
			if err := histogram(ctx, tx, since, &r); err != nil || by == "" {
				return err
			}
			r.Groups, err = groups(ctx, tx, since, expression, cfg.ThresholdTokens)
			return err
		})
	})
	return r, err
}

// histogram fills in how the tasks are spread.
func histogram(ctx context.Context, tx pgx.Tx, since time.Time, r *Report) error {
	rows, err := tx.Query(ctx, "SELECT (t.tokens + 999) / 1000 * 1000, count(*) FROM ctxls.tasks t WHERE t.at >= $1 GROUP BY 1", since)
	if err != nil {
		return err
	}
	counts, tokens, tasks := map[int]int{}, 0, 0
	_, err = pgx.ForEachRow(rows, []any{&tokens, &tasks}, func() error {
		counts[tokens] = tasks
		return nil
	})
	r.Histogram = fleet.HistogramOf(counts)
	return err
}

// groups returns the figures of each group.
func groups(ctx context.Context, tx pgx.Tx, since time.Time, expression string, threshold int) ([]Group, error) {
	rows, err := tx.Query(ctx, fmt.Sprintf(`SELECT %s, %s FROM ctxls.tasks t JOIN ctxls.machines m ON m.id = t.machine WHERE t.at >= $1
		GROUP BY 1 ORDER BY 2 DESC, 1`, expression, figures), since, threshold)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (g Group, err error) {
		exceeding, ranks := 0, []int{}
		if err := row.Scan(&g.Name, &g.Tasks, &exceeding, &g.Average, &g.MaxTokens, &ranks); err != nil {
			return g, err
		}
		g.Name = text.Sanitize(g.Name, 100)
		g.Exceedance = fleet.TaskSums{Tasks: g.Tasks, Exceeding: exceeding}.Rate()
		g.P50Tokens, g.P90Tokens, g.P99Tokens = ranks[0], ranks[1], ranks[2]
		return g, nil
	})
}

// Prune drops the days that lie wholly before an instant, with the compactions and the sessions of that time, and returns how many days it
// dropped. What is older is not taken again.
func (db *DB) Prune(ctx context.Context, before time.Time) (days int, err error) {
	err = db.checked(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		from := before.UTC().Truncate(24 * time.Hour)
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			rows, err := tx.Query(ctx, `SELECT right(relname, 8) FROM pg_class WHERE relnamespace = 'ctxls'::regnamespace AND relispartition AND relkind = 'r'
				AND relname ~ '^tasks_\d{8}$' AND right(relname, 8) < $1 ORDER BY 1`, from.Format("20060102"))
			if err != nil {
				return err
			}
			old, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "UPDATE ctxls.settings SET keep_from = greatest(keep_from, $1)", from); err != nil {
				return err
			}
			// In the order in which machines write them.
			if _, err := tx.Exec(ctx, "LOCK TABLE ctxls.samples, ctxls.tasks IN ACCESS EXCLUSIVE MODE"); err != nil {
				return err
			}
			for _, day := range old {
				if _, err := tx.Exec(ctx, "DROP TABLE ctxls.tasks_"+day+", ctxls.samples_"+day); err != nil {
					return err
				}
			}
			days = len(old)
			if _, err := tx.Exec(ctx, "DELETE FROM ctxls.compactions WHERE at < $1", from); err != nil {
				return err
			}
			_, err = tx.Exec(ctx, "DELETE FROM ctxls.sessions WHERE updated_at < $1", from)
			return err
		})
	})
	return days, err
}
