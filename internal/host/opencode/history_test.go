package opencode

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/host"
)

// conversation is a database in which a test writes the messages of one session.
type conversation struct {
	t       *testing.T
	db      *sql.DB
	records Records
	n       int
}

func newConversation(t *testing.T) *conversation {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := &conversation{t: t, db: db, records: NewRecords(host.Env{Getenv: func(string) string { return "" }, Home: home})}
	c.exec("CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, agent text, time_created integer NOT NULL, time_updated integer NOT NULL)")
	c.exec("CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL)")
	c.exec("CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL)")
	return c
}

func (c *conversation) exec(statement string, args ...any) {
	c.t.Helper()
	if _, err := c.db.ExecContext(c.t.Context(), statement, args...); err != nil {
		c.t.Fatal(err)
	}
}

// message adds the next message, msg_01 being the first; data has the times of its start and its end.
func (c *conversation) message(data string, parts ...string) {
	c.t.Helper()
	c.n++
	at := 1795316805000 + c.n*1000
	id := fmt.Sprintf("msg_%02d", c.n)
	c.exec("INSERT INTO message VALUES (?, 'ses_top', ?, ?)", id, at, fmt.Sprintf(data, at, at+500))
	for i, part := range parts {
		c.exec("INSERT INTO part VALUES (?, ?, 'ses_top', ?)", fmt.Sprintf("prt_%02d_%d", c.n, i), id, part)
	}
}

const (
	user    = `{"role":"user","time":{"created":%d,"x":%d},"agent":"build"}`
	answer  = `{"role":"assistant","mode":"build","agent":"build","path":{"cwd":"/w"},"tokens":{"total":53989,"input":12,"output":77,"cache":{"write":900,"read":53000}},"modelID":"m","time":{"created":%d,"completed":%d}}`
	summary = `{"role":"assistant","mode":"compaction","agent":"compaction","summary":true,"tokens":{"total":9,"input":9},"modelID":"m","time":{"created":%d,"completed":%d}}`
)

var topSession = core.Record{Key: session.Key{Host: session.HostOpenCode, SessionID: "ses_top"}}

// A window is what came since the last compaction that succeeded, its summary, and the turns that it kept as they were. Results that the
// host has cleared are named after what they were results of.
func TestScanOfTheDatabase(t *testing.T) {
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	of := func(parent string) string { return strings.Replace(summary, `{`, `{"parentID":"`+parent+`",`, 1) }
	failed := func(parent string) string {
		return strings.Replace(of(parent), `{`, `{"error":{"name":"APIError"},`, 1)
	}
	for name, test := range map[string]struct {
		write func(c *conversation)
		want  []string // newest first
	}{
		"no compaction": {func(c *conversation) {
			c.message(user, text("one"))
			c.message(answer, `{"type":"tool","tool":"read","callID":"t1","state":{"status":"completed","input":{},"output":"two","time":{"compacted":1795316809000}}}`)
			c.message(answer, text("three"))
		}, []string{"report", "answer three", "clear t1", "report", "call {}", "result two", "prompt one"}},
		"a summary alone": {func(c *conversation) {
			c.message(user, text("old"))
			c.message(user, `{"type":"compaction","auto":false}`)
			c.message(of("msg_02"), text("so far"))
			c.message(user, text("new"))
		}, []string{"prompt new", "summary so far"}},
		"kept turns": {func(c *conversation) {
			c.message(user, text("old"))
			c.message(user, text("kept"))
			c.message(answer, text("said"))
			c.message(user, `{"type":"compaction","auto":true,"tail_start_id":"msg_02"}`)
			c.message(of("msg_04"), text("so far"))
			c.message(answer, text("on"))
		}, []string{"report", "answer on", "summary so far", "answer said", "prompt kept"}},
		"a second compaction that failed": {func(c *conversation) {
			c.message(user, text("old"))
			c.message(user, `{"type":"compaction","auto":false}`)
			c.message(of("msg_02"), text("so far"))
			c.message(user, `{"type":"compaction","auto":false}`)
			c.message(failed("msg_04"), text("half"))
		}, []string{"summary so far"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newConversation(t)
			test.write(c)
			var got []string
			var done, total int64
			if err := c.records.ScanRecord(t.Context(), topSession, func(d, all int64) { done, total = d, all }, func(e session.Entry) bool {
				if e.Report != nil {
					got = append(got, "report")
				}
				if e.Boundary != nil {
					got = append(got, "clear "+strings.Join(e.Boundary.Cleared, " "))
				}
				for _, p := range e.Content {
					got = append(got, string(p.Class)+" "+p.Text)
				}
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if done == 0 || done != total {
				t.Errorf("%d of %d bytes are done at the end", done, total)
			}
		})
	}
	none := newConversation(t)
	if err := none.records.ScanRecord(t.Context(), topSession, func(int64, int64) {}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a session that is gone: %v", err)
	}
}

// The database keeps all windows: prompts, commands with how they ended, and the summary of each compaction.
func TestHistoryOfTheDatabase(t *testing.T) {
	in := newConversation(t)
	in.message(user, `{"type":"text","text":"Never edit the files below gen/ by hand."}`)
	in.message(answer, `{"type":"tool","tool":"bash","callID":"t1","state":{"status":"completed","input":{"command":"make gen"},"output":"no","metadata":{"exit":2}}}`)
	in.message(summary, `{"type":"text","text":"Some files were made."}`)
	in.message(user, `{"type":"text","text":"Always run the linter before you commit."}`)
	in.message(answer, `{"type":"tool","tool":"bash","callID":"t2","state":{"status":"completed","input":{"command":"make lint"},"output":"ok","metadata":{"exit":0}}}`)
	in.message(summary, `{"type":"text","text":"It was linted."}`)

	c := survival.Collector{Tools: New().Rules().Tools}
	if err := in.records.History(t.Context(), topSession, false, func(e session.Entry) bool {
		c.Add(e)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	past := c.Past()
	got := []string{past.Summary()}
	for _, p := range past.Prompts {
		got = append(got, fmt.Sprint(p.Window, " ", p.Text))
	}
	for _, command := range past.Commands {
		got = append(got, fmt.Sprint(command.Text, " ", command.Failed))
	}
	if diff := cmp.Diff([]string{"It was linted.", "0 Always run the linter before you commit.", "1 Never edit the files below gen/ by hand.", "make lint false", "make gen true"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
