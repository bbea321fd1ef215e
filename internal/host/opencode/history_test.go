package opencode

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/host"
)

// The database keeps all windows: prompts, commands with how they ended, and the summary of each compaction.
func TestHistoryOfTheDatabase(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	message := func(data string, parts ...string) {
		n++
		at := 1795316805000 + n*1000
		exec("INSERT INTO message VALUES (?, 'ses_top', ?, ?)", fmt.Sprintf("msg_%02d", n), at, fmt.Sprintf(data, at, at+500))
		for i, part := range parts {
			exec("INSERT INTO part VALUES (?, ?, 'ses_top', ?)", fmt.Sprintf("prt_%02d_%d", n, i), fmt.Sprintf("msg_%02d", n), part)
		}
	}
	exec("CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, agent text, time_created integer NOT NULL, time_updated integer NOT NULL)")
	exec("CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL)")
	exec("CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL)")
	const user = `{"role":"user","time":{"created":%d,"x":%d},"agent":"build"}`
	const answer = `{"role":"assistant","mode":"build","agent":"build","path":{"cwd":"/w"},"tokens":{"total":53989,"input":12,"output":77,"cache":{"write":900,"read":53000}},"modelID":"m","time":{"created":%d,"completed":%d}}`
	const summary = `{"role":"assistant","mode":"compaction","agent":"compaction","summary":true,"tokens":{"total":9,"input":9},"modelID":"m","time":{"created":%d,"completed":%d}}`
	message(user, `{"type":"text","text":"Never edit the files below gen/ by hand."}`)
	message(answer, `{"type":"tool","tool":"bash","callID":"t1","state":{"status":"completed","input":{"command":"make gen"},"output":"no","metadata":{"exit":2}}}`)
	message(summary, `{"type":"text","text":"Some files were made."}`)
	message(user, `{"type":"text","text":"Always run the linter before you commit."}`)
	message(answer, `{"type":"tool","tool":"bash","callID":"t2","state":{"status":"completed","input":{"command":"make lint"},"output":"ok","metadata":{"exit":0}}}`)
	message(summary, `{"type":"text","text":"It was linted."}`)

	c := survival.Collector{Tools: New().Rules().Tools}
	r := core.Record{Key: session.Key{Host: session.HostOpenCode, SessionID: "ses_top"}}
	if err := NewRecords(host.Env{Getenv: func(string) string { return "" }, Home: home}).History(t.Context(), r, false, func(e session.Entry) bool {
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
