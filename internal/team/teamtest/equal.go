//go:build linux && fleet

package teamtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/team/push"
)

// Equal holds every table of a database against what the machines hold, row by row.
func (p *Postgres) Equal(t testing.TB, database string, machines ...*Machine) {
	t.Helper()
	var sessions, samples, compactions, tasks []string
	for _, m := range machines {
		_, id := m.Pusher(t, nil, 0) // for its names
		redact := push.Redaction{Salt: id.Salt}
		views, err := m.Service.Sessions(context.Background(), core.SessionFilter{IncludeEnded: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range views {
			key := session.Key{Host: v.Host, SessionID: v.SessionID}
			name := id.Machine + "|" + redact.Session(key)
			sessions = append(sessions, fmt.Sprintf("%s|%d|%d|%d", name, *v.Usage.Tokens, v.Compactions, v.UpdatedAt.UnixMilli()))
			kept, err := m.Store.SamplesFrom(context.Background(), key, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range kept {
				row := fmt.Sprintf("%s|%d|%d|%d|%d", name, s.Seq, s.At.UnixMilli(), s.Tokens, s.WindowTokens)
				samples = append(samples, row+"|"+string(s.Kind[:1]))
				if s.Kind == session.SampleCompaction {
					compactions = append(compactions, row)
				}
			}
		}
		ring, err := m.Store.Tasks(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range ring {
			tasks = append(tasks, fmt.Sprintf("%s|%d|%d|%d", id.Machine, task.Seq, task.At.UnixMilli(), task.Tokens))
		}
	}
	const ms = "(extract(epoch FROM %s) * 1000)::bigint"
	at := fmt.Sprintf(ms, "x.at")
	history := "m.machine, s.session, x.seq, " + at + ", x.tokens, x.window_tokens"
	from := " x JOIN ctxls.machines m ON m.id = x.machine JOIN ctxls.sessions s ON s.machine = x.machine AND s.no = x.session"
	for _, table := range []struct {
		name, query string
		want        []string
	}{
		{"sessions", "SELECT m.machine, x.session, x.tokens, x.compactions, " + fmt.Sprintf(ms, "x.updated_at") + " FROM ctxls.sessions x JOIN ctxls.machines m ON m.id = x.machine", sessions},
		{"samples", "SELECT " + history + ", x.kind FROM ctxls.samples" + from, samples},
		{"compactions", "SELECT " + history + " FROM ctxls.compactions" + from, compactions},
		{"tasks", "SELECT m.machine, x.seq, " + at + ", x.tokens FROM ctxls.tasks x JOIN ctxls.machines m ON m.id = x.machine", tasks},
		{"samples of no session", "SELECT x.* FROM ctxls.samples x WHERE NOT EXISTS (SELECT FROM ctxls.sessions s WHERE s.machine = x.machine AND s.no = x.session)", nil},
	} {
		got := p.Query(t, database, table.query)
		slices.Sort(got)
		slices.Sort(table.want)
		if diff := cmp.Diff(table.want, got); diff != "" {
			t.Errorf("%s (-machines +database):\n%s", table.name, diff)
		}
	}
}
