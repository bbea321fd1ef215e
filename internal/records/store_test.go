package records_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/records"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// machine is a home with the records of hosts, and the store that shows them.
type machine struct {
	*testing.T
	home  string
	state core.Store
	seen  *records.Store
}

func newMachine(t *testing.T, options ...func(*records.Options)) *machine {
	t.Helper()
	m := &machine{T: t, home: t.TempDir()}
	state, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(m.home, "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	m.state = state
	env := host.Env{Getenv: func(string) string { return "" }, Home: m.home}
	adapters := registry.Adapters(env.Getenv)
	o := records.Options{
		Recorders: registry.Recorders(env),
		Rules:     func(h session.Host) session.Rules { return adapters[h].Rules() }, Prepare: func(*session.Event) {},
		Config: func(string) settings.Config { return settings.Default() }, Now: func() time.Time { return noon },
	}
	for _, change := range options {
		change(&o)
	}
	m.seen = records.Over(state, o)
	return m
}

// write writes a file below the home that changed some time before noon.
func (m *machine) write(name string, data []byte, before time.Duration) string {
	m.Helper()
	path := filepath.Join(m.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		m.Fatal(err)
	}
	if err := os.Chtimes(path, noon.Add(-before), noon.Add(-before)); err != nil {
		m.Fatal(err)
	}
	return path
}

// captured returns a transcript of a real host.
func (m *machine) captured(name string) []byte {
	m.Helper()
	data, err := os.ReadFile(filepath.Join("..", "host", filepath.FromSlash(name)))
	if err != nil {
		m.Fatal(err)
	}
	return data
}

// claude writes a transcript of Claude Code.
func (m *machine) claude(session, capture string, before time.Duration) string {
	m.Helper()
	return m.write(".claude/projects/-home-dev-project/"+session+".jsonl", m.captured("claudecode/testdata/transcripts/"+capture+".jsonl"), before)
}

func (m *machine) sessions(f core.SessionFilter) []session.Snapshot {
	m.Helper()
	snaps, err := m.seen.Sessions(m.Context(), f)
	if err != nil {
		m.Fatal(err)
	}
	return snaps
}

func ids(snaps []session.Snapshot) (ids []string) {
	for _, snap := range snaps {
		ids = append(ids, snap.Session.SessionID)
	}
	return ids
}

func (m *machine) want(what string, got, want []string) {
	m.Helper()
	if !slices.Equal(got, want) {
		m.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestSessionsOfEveryHost(t *testing.T) {
	m := newMachine(t)
	m.claude("cc", "basic", time.Minute)
	m.write(".claude/projects/-home-dev-project/cc/subagents/agent-af83ffba39964d85a.jsonl", m.captured("claudecode/testdata/transcripts/agent-af83ffba39964d85a.jsonl"), time.Minute)
	m.write(".claude/projects/-home-dev-project/cc/subagents/agent-af83ffba39964d85a.meta.json", []byte(`{"agentType":"general-purpose","finished":false}`), time.Minute)
	m.write(".codex/sessions/2026/11/21/rollout-2026-11-21T09-51-56-01a1fd85-06f1-79d2-92ec-ec01e78a094c.jsonl",
		m.captured("codex/testdata/rollouts/basic-and-resume-01a1fd85-06f1-79d2-92ec-ec01e78a094c.jsonl"), 2*time.Minute)
	m.write(".gemini/tmp/project/chats/session-2026-11-21T09-55-5dd3f05d.jsonl", m.captured("gemini/testdata/transcripts/session-basic.jsonl"), 3*time.Minute)
	m.write(".gemini/tmp/project/.project_root", []byte("/home/dev/project"), time.Hour)
	openCodeDatabase(t, m.home)

	snaps := m.sessions(core.SessionFilter{})
	m.want("sessions", ids(snaps), []string{"cc", "01a1fd85-06f1-79d2-92ec-ec01e78a094c", "5dd3f05d-3481-4432-8dca-ef46cf395131", "ses_top"})
	for _, snap := range snaps {
		e := snap.Session
		if !e.Gauge.Known || e.Gauge.Tokens == 0 || e.Model == "" || filepath.ToSlash(e.CWD) != "/home/dev/project" || !e.Recorded || e.StartedAt.IsZero() {
			t.Errorf("%s: gauge %+v, model %q in %q, recorded %v since %v", e.SessionID, e.Gauge, e.Model, e.CWD, e.Recorded, e.StartedAt)
		}
	}
	if agents := snaps[0].Session.Agents; len(agents) != 1 || agents[0].AgentType != "general-purpose" || agents[0].Gauge.Tokens == 0 {
		t.Errorf("sub-agents of Claude Code: %+v", agents)
	}
	if agents := snaps[3].Session.Agents; len(agents) != 1 || agents[0].Gauge.Tokens != 9_000 {
		t.Errorf("sub-agents of OpenCode: %+v", agents)
	}
	if e := snaps[3].Session; e.Gauge.Tokens != 53_989 || e.Title != "Notes" || e.Turns != 1 {
		t.Errorf("OpenCode: %d tokens, title %q, %d turns", e.Gauge.Tokens, e.Title, e.Turns)
	}
}

// openCodeDatabase makes a database of OpenCode 1.18.33, as far as ctxls reads it, with all content in its write-ahead log.
func openCodeDatabase(t *testing.T, home string) {
	t.Helper()
	path := filepath.Join(home, ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	answer := func(tokens string) string {
		return `{"role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/project","root":"/home/dev/project"},"tokens":` + tokens +
			`,"modelID":"mock-sonnet","providerID":"mock","time":{"created":1795316807117,"completed":1795316808663},"finish":"stop"}`
	}
	for _, statement := range []string{
		"CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, agent text, time_created integer NOT NULL, time_updated integer NOT NULL)",
		"CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL)",
		"CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL)",
		"INSERT INTO session VALUES ('ses_top', NULL, '/home/dev/project', 'Notes', 'build', 1795316805101, 1795316808902)",
		"INSERT INTO session VALUES ('ses_sub', 'ses_top', '/home/dev/project', 'Look', 'explore', 1795316805101, 1795316808902)",
		`INSERT INTO message VALUES ('msg_1', 'ses_top', 1795316805371, '{"role":"user","time":{"created":1795316805371},"agent":"build","model":{"providerID":"mock","modelID":"mock-sonnet"}}')`,
		`INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_top', '{"type":"text","text":"read notes.txt"}')`,
		`INSERT INTO message VALUES ('msg_2', 'ses_top', 1795316807117, '` + answer(`{"total":53989,"input":12,"output":77,"reasoning":0,"cache":{"write":900,"read":53000}}`) + `')`,
		`INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_top', '{"type":"tool","tool":"read","callID":"t","state":{"status":"completed","input":{"filePath":"/home/dev/project/notes.txt"},"output":"hello"}}')`,
		`INSERT INTO message VALUES ('msg_3', 'ses_sub', 1795316807118, '` + answer(`{"total":9000,"input":8900,"output":100}`) + `')`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestAHookTakesOver(t *testing.T) {
	m := newMachine(t)
	m.claude("s1", "basic", time.Minute)
	m.claude("s2", "basic", time.Hour)
	told := session.Session{Host: session.HostClaudeCode, SessionID: "s1", CWD: "/w", UpdatedAt: noon}
	if err := m.state.Update(t.Context(), core.Query{Key: told.Key()}, func(session.State) session.Changes { return session.Changes{Session: &told} }); err != nil {
		t.Fatal(err)
	}
	snaps := m.sessions(core.SessionFilter{})
	m.want("sessions", ids(snaps), []string{"s1", "s2"})
	if snaps[0].Session.Recorded || !snaps[1].Session.Recorded {
		t.Error("the session of the hook comes from its record")
	}
}

func TestAForgottenSessionStaysForgotten(t *testing.T) {
	m := newMachine(t)
	m.claude("s1", "basic", time.Minute)
	m.claude("s2", "basic", time.Hour)
	key := session.Key{Host: session.HostClaudeCode, SessionID: "s1"}
	if err := m.state.Update(t.Context(), core.Query{Key: key}, func(session.State) session.Changes { return session.Changes{Delete: true} }); err != nil {
		t.Fatal(err)
	}
	m.want("sessions", ids(m.sessions(core.SessionFilter{})), []string{"s2"})
	if _, err := m.seen.Session(t.Context(), key); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("Session: %v", err)
	}
	if found, err := m.seen.FindSessions(t.Context(), "s1"); err != nil || len(found) > 0 {
		t.Errorf("FindSessions: %v, %v", found, err)
	}
}

func TestTheNewestCopyOfASessionCounts(t *testing.T) {
	m := newMachine(t)
	m.claude("s1", "basic", time.Hour)
	newer := m.write(".claude/projects/-home-dev-elsewhere/s1.jsonl", m.captured("claudecode/testdata/transcripts/compact-auto.jsonl"), time.Minute)
	snaps := m.sessions(core.SessionFilter{})
	if len(snaps) != 1 || snaps[0].Session.Transcript != newer {
		t.Errorf("sessions: %+v", ids(snaps))
	}
}

func TestWhatIsNoRecord(t *testing.T) {
	m := newMachine(t)
	m.claude("s1", "basic", time.Minute)
	m.write(".claude/projects/-p/empty.jsonl", nil, time.Minute)
	m.write(".claude/projects/-p/garbage.jsonl", bytes.Repeat([]byte("\x00garbage\n"), 1000), time.Minute)
	m.write(".claude/projects/-p/half.jsonl", m.captured("claudecode/testdata/transcripts/basic.jsonl")[:2000], time.Minute)
	m.write(".claude/projects/-p/agent-a1.jsonl", m.captured("claudecode/testdata/transcripts/basic.jsonl"), time.Minute)
	m.write(".claude/projects/-p/notes.txt", []byte("no"), time.Minute)
	m.write(".codex/sessions/2026/11/21/rollout-short.jsonl", []byte("{}\n"), time.Minute)
	m.write(".gemini/tmp/p/chats/session-x.jsonl", []byte(`{"sessionId":"sub","kind":"subagent"}`+"\n"), time.Minute)
	m.write(".local/share/opencode/opencode.db", []byte("no database"), time.Minute)
	outside := m.write("outside/s9.jsonl", m.captured("claudecode/testdata/transcripts/basic.jsonl"), time.Minute)
	if runtime.GOOS != "windows" { // where links need a privilege
		if err := os.Symlink(outside, filepath.Join(m.home, ".claude", "projects", "-p", "s9.jsonl")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Dir(outside), filepath.Join(m.home, ".claude", "projects", "-linked")); err != nil {
			t.Fatal(err)
		}
	}
	for _, snap := range m.sessions(core.SessionFilter{}) {
		if e := snap.Session; e.SessionID != "s1" && (e.Gauge.Known || e.SessionID == "s9" || strings.HasPrefix(e.SessionID, "agent")) {
			t.Errorf("%s is shown with %d tokens", e.SessionID, e.Gauge.Tokens)
		}
	}
}

func TestFoldersAndLimit(t *testing.T) {
	m := newMachine(t)
	for i, id := range []string{"s1", "s2", "s3"} {
		m.claude(id, "basic", time.Duration(i+1)*time.Minute)
	}
	m.want("limit", ids(m.sessions(core.SessionFilter{Limit: 2})), []string{"s1", "s2"})
	m.want("folder", ids(m.sessions(core.SessionFilter{Folders: []string{"/home/dev"}, Limit: 1})), []string{"s1"})
	m.want("another folder", ids(m.sessions(core.SessionFilter{Folders: []string{"/elsewhere"}})), nil)
	m.want("host", ids(m.sessions(core.SessionFilter{Host: session.HostCodex})), nil)
}

func TestSamplesOfARecord(t *testing.T) {
	m := newMachine(t)
	m.claude("s1", "basic", time.Minute)
	key := session.Key{Host: session.HostClaudeCode, SessionID: "s1"}
	all, err := m.seen.Samples(t.Context(), key, 0)
	if err != nil || len(all) < 2 {
		t.Fatalf("%d samples, %v", len(all), err)
	}
	last, err := m.seen.Samples(t.Context(), key, 1)
	if err != nil || len(last) != 1 || last[0] != all[len(all)-1] {
		t.Errorf("the last sample: %+v, %v", last, err)
	}
}

// feed reads what changed, and returns the ids of the sessions.
func (m *machine) feed(since int64) (core.Feed, []string) {
	m.Helper()
	feed, err := m.seen.Changed(m.Context(), since)
	if err != nil {
		m.Fatal(err)
	}
	return feed, ids(feed.Sessions)
}

func TestAServerFollowsRecords(t *testing.T) {
	m := newMachine(t, func(o *records.Options) { o.Now = time.Now })
	now := time.Until(noon) // write dates files relative to noon
	m.claude("s1", "basic", now)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wake := m.seen.Watch(ctx)
	woken := func(what string) {
		t.Helper()
		select {
		case <-wake:
		case <-time.After(30 * time.Second):
			t.Fatalf("not woken after %s", what)
		}
	}
	woken("the first look")
	feed, got := m.feed(0)
	m.want("at first", got, []string{"s1"})
	if again, got := m.feed(feed.Revision); again.Revision != feed.Revision || len(got) > 0 || again.Whole {
		t.Errorf("nothing changed: %v, %+v", got, again)
	}

	path := m.claude("s2", "basic", now)
	for len(got) == 0 || got[0] != "s2" {
		woken("a new record")
		feed, got = m.feed(feed.Revision)
	}
	before := feed.Sessions[0].Session.Cursor.Offset

	data := m.captured("claudecode/testdata/transcripts/compact-auto.jsonl")
	m.write(".claude/projects/-home-dev-project/s2.jsonl", data, now)
	for feed.Sessions == nil || feed.Sessions[0].Session.Cursor.Offset == before {
		woken("a changed record")
		feed, _ = m.feed(feed.Revision)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for len(feed.Removed) == 0 {
		woken("a removed record")
		feed, _ = m.feed(feed.Revision)
	}
	if feed.Removed[0].SessionID != "s2" {
		t.Errorf("removed: %+v", feed.Removed)
	}
}

func TestImport(t *testing.T) {
	m := newMachine(t)
	m.claude("s1", "basic", time.Hour)
	m.claude("s2", "compact-auto", time.Minute)
	m.write(".codex/sessions/2026/11/21/rollout-2026-11-21T09-51-56-01a1fd85-06f1-79d2-92ec-ec01e78a094c.jsonl",
		m.captured("codex/testdata/rollouts/basic-and-resume-01a1fd85-06f1-79d2-92ec-ec01e78a094c.jsonl"), 2*time.Minute)
	m.write(".gemini/tmp/project/chats/session-2026-11-21T09-55-5dd3f05d.jsonl", m.captured("gemini/testdata/transcripts/session-basic.jsonl"), 3*time.Minute)
	openCodeDatabase(t, m.home)
	var last, total int64
	first, err := m.seen.Import(t.Context(), nil, time.Time{}, 1000, func(done, all int64) { last, total = done, all })
	if err != nil || first.Sessions != 5 || first.Failed != 0 || first.Tasks < 6 || last != total || total == 0 {
		t.Fatalf("%+v, %d of %d bytes, %v", first, last, total, err)
	}
	fleet, err := m.state.Fleet(t.Context(), 1000)
	if err != nil || len(fleet.Tokens) != first.Tasks || slices.Contains(fleet.Tokens, 0) || !slices.Contains(fleet.Tokens, 53_989) {
		t.Errorf("tasks: %v, %v", fleet.Tokens, err)
	}
	again, err := m.seen.Import(t.Context(), nil, time.Time{}, 1000, func(int64, int64) {})
	if err != nil || again != first {
		t.Errorf("a second import: %+v, then %+v, %v", first, again, err)
	}
	one, err := m.seen.Import(t.Context(), []session.Host{session.HostClaudeCode}, noon.Add(-30*time.Minute), 1000, func(int64, int64) {})
	if err != nil || one.Sessions != 1 {
		t.Errorf("one host since half an hour: %+v, %v", one, err)
	}
	if err := m.seen.ForgetImported(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	if fleet, err = m.state.Fleet(t.Context(), 1000); err != nil || len(fleet.Tokens) != 0 {
		t.Errorf("after forgetting: %v, %v", fleet.Tokens, err)
	}
}

// An import teaches how a model counts, once, and less than hooks.
func TestAnImportTeaches(t *testing.T) {
	counter, err := token.Get(session.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, func(o *records.Options) {
		service := core.Service{Adapters: registry.Adapters(func(string) string { return "" }), Counter: counter}
		o.Prepare = service.Count
	})
	// A captured call with a result of 1,000 tokens, and an answer whose report is larger by what the result is worth.
	text, held := "", 50_000
	for line := range strings.Lines(string(m.captured("claudecode/testdata/transcripts/basic.jsonl"))) {
		if strings.Contains(line, `"toolu_mock_0001"`) && strings.Contains(line, `"isSidechain"`) || strings.Contains(line, "FINAL-ANSWER-BASIC") && strings.Contains(line, `"cache_read_input_tokens":143000`) {
			line = strings.ReplaceAll(line, `1\talpha\n2\tbeta\n3\tgamma\n4\t`, strings.Repeat("A quick brown fox jumps over a lazy dog. ", 100))
			text += regexp.MustCompile(`"cache_read_input_tokens":\d+`).ReplaceAllString(line, fmt.Sprintf(`"cache_read_input_tokens":%d`, held))
			held += 650 // for each of two lines
		}
	}
	m.write(".claude/projects/-home-dev-project/s1.jsonl", []byte(text), time.Hour)
	learned := func() (all []session.Calibration) {
		t.Helper()
		st, err := m.state.Load(t.Context(), core.Query{Key: session.Key{Host: "h", SessionID: "s"}, Model: "claude-sonnet-4-6", Calibration: session.Encoding})
		if err != nil {
			t.Fatal(err)
		}
		if !st.Calibration.IsEmpty() {
			all = append(all, st.Calibration)
		}
		return all
	}
	imports := func() []session.Calibration {
		t.Helper()
		if _, err := m.seen.Import(t.Context(), nil, time.Time{}, 1000, func(int64, int64) {}); err != nil {
			t.Fatal(err)
		}
		return learned()
	}
	first := imports()
	if len(first) == 0 || !first[0].Imported {
		t.Fatalf("learned: %+v", first)
	}
	if again := imports(); !reflect.DeepEqual(again, first) {
		t.Errorf("a second import: %+v, then %+v", first, again)
	}
	if err := m.seen.ForgetImported(t.Context(), 1000); err != nil || len(learned()) > 0 {
		t.Errorf("after forgetting: %+v, %v", learned(), err)
	}
	own := session.Calibration{Model: first[0].Model, Encoding: session.Encoding, Kept: 7}
	if err := m.state.Update(t.Context(), core.Query{}, func(session.State) session.Changes { return session.Changes{Calibration: &own} }); err != nil {
		t.Fatal(err)
	}
	if after := imports(); len(after) == 0 || !reflect.DeepEqual(after[0], own) {
		t.Errorf("what hooks taught became %+v", after)
	}
}
