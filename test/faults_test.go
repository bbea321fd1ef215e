package test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// 32 hooks of one session start at once, on a machine without a state. Each ends with 0. The state has every answered
// event, and a hook without an answer has logged the reason.
func TestManyHooksAtOnce(t *testing.T) {
	const processes = 32
	m := newMachine(t)
	var taken []string
	silent, said := 0, 0
	for round := 0; len(taken) < processes/2; round++ {
		if round == 20 {
			t.Fatalf("of %d hooks %d answered; the log:\n%s", round*processes, len(taken), m.log())
		}
		var mu sync.Mutex
		var group sync.WaitGroup
		for n := range processes {
			group.Go(func() {
				file := fmt.Sprintf("%d-%d.go", round, n)
				r := m.hook("generic", used("one", file))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case r.exit == 0 && r.stdout == answered && r.stderr == "":
					taken = append(taken, file)
				case r.exit == 0 && r.stdout == "":
					silent, said = silent+1, said+strings.Count(r.stderr, "\n")
				default:
					t.Errorf("%+v", r)
				}
			})
		}
		group.Wait()
	}
	if lost := m.missing("one", taken); len(lost) > 0 {
		t.Errorf("of %d that were answered %d are lost: %v", len(taken), len(lost), lost)
	}
	if said += m.givenUp(); said != silent {
		t.Errorf("%d hooks answered nothing, and %d said why:\n%s", silent, said, m.log())
	}
	m.sound()
	t.Logf("%d answered, %d gave up", len(taken), silent)
}

// Hosts kill slow hooks at any point. Every answered event is stored all the same, despite concurrent writers, and the
// state is sound.
func TestKilledHooks(t *testing.T) {
	victims, beside := 120, 2
	if testing.Short() {
		victims = 30
	}
	m := newMachine(t)
	began := time.Now()
	m.heard("generic", used("first", "a.go"))
	long := time.Since(began) // about the duration of a whole hook here

	var mu sync.Mutex
	taken := map[string][]string{} // by session
	take := func(session, file string, r hookRun) {
		mu.Lock()
		defer mu.Unlock()
		if r.stdout == answered {
			taken[session] = append(taken[session], file)
		} else if r.stdout != "" {
			t.Errorf("%+v", r)
		}
	}
	stop := make(chan struct{})
	var others, group sync.WaitGroup
	for n := range beside {
		others.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				session, file := fmt.Sprintf("beside-%d-%d", n, i/100), fmt.Sprintf("%d.go", i)
				r := m.hook("generic", used(session, file))
				take(session, file, r)
				if r.exit != 0 {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	killed := 0
	for range 2 {
		group.Go(func() {
			for i := range victims / 2 {
				session, file := fmt.Sprint("victim-", i/50), fmt.Sprintf("%d-%d.go", i, rand.Int())
				var stdout bytes.Buffer
				cmd := m.command("hook", "generic")
				cmd.Stdin, cmd.Stdout = strings.NewReader(used(session, file)), &stdout
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(rand.N(long * 3 / 2))
				_ = cmd.Process.Kill()
				if cmd.Wait() != nil {
					mu.Lock()
					killed++
					mu.Unlock()
				}
				take(session, file, hookRun{stdout: stdout.String()})
			}
		})
	}
	group.Wait()
	close(stop)
	others.Wait()
	count := 0
	for session, files := range taken {
		count += len(files)
		if lost := m.missing(session, files); len(lost) > 0 {
			t.Errorf("%s: of %d that were answered %d are lost: %v", session, len(files), len(lost), lost)
		}
	}
	if killed == 0 || count == 0 {
		t.Errorf("%d hooks were killed and %d answered: this test sees nothing", killed, count)
	}
	m.sound()
	m.heard("generic", used("first", "b.go"))
	t.Logf("%d of %d killed before their end, %d answered", killed, victims, count)
}

// A page in the middle of the state is damaged. Hooks end normally. The hook that finds the damage moves the state aside
// unchanged, and later events are stored again.
func TestABadPage(t *testing.T) {
	m := newMachine(t)
	for i := range 3 {
		m.heard("generic", used("before", fmt.Sprintf("%d.go", i)))
	}
	state := filepath.Join(m.home, "ctxls", "state.db")
	db, err := sql.Open("sqlite", state)
	if err != nil {
		t.Fatal(err)
	}
	var root, busy, pages, folded int64
	err = errors.Join(db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'paths'").Scan(&root),
		db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &folded), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	garbage := data[(root-1)*page : root*page]
	if rand.NewChaCha8([32]byte{1}).Read(garbage); int64(len(data)) <= root*page {
		t.Fatalf("page %d of %d bytes is in no middle", root, len(data))
	}
	if err := os.WriteFile(state, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		m.heard("generic", used("after", fmt.Sprintf("%d.go", i)))
	}
	if lost := m.missing("after", []string{"1.go", "2.go"}); len(lost) > 0 {
		t.Errorf("lost after the damage: %v", lost)
	}
	moved, _ := filepath.Glob(state + ".corrupt-*")
	if moved = slices.DeleteFunc(moved, func(name string) bool { return strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") }); len(moved) != 1 {
		t.Fatalf("moved aside: %q", moved)
	}
	if kept, err := os.ReadFile(moved[0]); err != nil || !bytes.Equal(kept, data) {
		t.Errorf("what was moved aside is not what was there: %v", err)
	}
	if !strings.Contains(m.log(), filepath.Base(moved[0])) {
		t.Errorf("the log does not say so:\n%s", m.log())
	}
}

// A process locks the state for a long time. Hooks end normally and log the reason, and later events are stored when the
// lock is gone. Commands of users are answered meanwhile.
func TestAStateThatIsHeld(t *testing.T) {
	m := newMachine(t)
	m.heard("generic", used("s", "before.go"))
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(m.home, "ctxls", "state.db"))+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"claude-code", "codex", "gemini-cli", "opencode", "generic"} {
		payload := map[string]string{
			"opencode": `{"event":{"type":"session.idle","properties":{"sessionID":"s"}}}`, "generic": used("s", "held.go"),
		}[host]
		if payload == "" {
			payload = `{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}`
		}
		before := m.givenUp()
		r := m.hook(host, payload)
		said := m.givenUp() - before + strings.Count(r.stderr, "\n") // before there is a log, a hook that gives up reports it on stderr
		if r.exit != 0 || r.stdout != "" || said != 1 && host != "gemini-cli" {
			t.Errorf("%s: %+v; the log:\n%s", host, r, m.log())
		}
	}
	if lost := m.missing("s", []string{"before.go"}); len(lost) > 0 {
		t.Errorf("%v is not shown", lost)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	m.heard("generic", used("s", "after.go"))
	if lost := m.missing("s", []string{"before.go", "after.go"}); len(lost) > 0 {
		t.Errorf("lost: %v", lost)
	}
}

// A host starts a hook and then stops writing in the middle of the payload, or never reads the answer. The hook ends by
// itself with 0, though the host keeps all its pipes open.
func TestHostsThatLeaveTheirHooks(t *testing.T) {
	var group sync.WaitGroup
	for _, host := range []string{"claude-code", "codex", "gemini-cli", "opencode", "generic"} {
		m := newMachine(t)
		group.Go(func() {
			cmd := m.command("hook", host)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Error(err)
				return
			}
			defer stdin.Close()
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			io.WriteString(stdin, `{"session_id":"s","hook_event_name":"Stop","sessionId":"s",`)
			tooLong := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
			defer tooLong.Stop()
			err = cmd.Wait()
			said := strings.Count(stderr.String(), "\n") + m.givenUp()
			if host == "gemini-cli" && stderr.Len() > 0 || err != nil || stdout.Len() > 0 || said != 1 && !(host == "gemini-cli" && said == 0) {
				t.Errorf("%s: %v, printed %q and %q; the log:\n%s", host, err, stdout.String(), stderr.String(), m.log())
			}
		})
	}
	group.Wait()
}

// A host has ended when the hook answers. The event is stored all the same.
func TestHostsThatDoNotListen(t *testing.T) {
	m := newMachine(t)
	for attempt := 0; ; attempt++ {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd := m.command("hook", "generic")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(used("s", "a.go")), w, w
		err = cmd.Run()
		w.Close()
		if err != nil {
			t.Fatalf("it ended with %v", err)
		}
		if len(m.missing("s", []string{"a.go"})) == 0 {
			break
		}
		if attempt == 50 {
			t.Fatalf("nothing is taken note of:\n%s", m.log())
		}
	}
	if m.givenUp() == 0 {
		t.Error("that nobody listened is not logged")
	}
	m.sound()
}

// Clients send requests, get notifications, and never read. The server reads only as much as it may owe answers for, and
// ends when the clients end.
func TestClientsThatNeverRead(t *testing.T) {
	for door, calls := range map[string]struct{ greeting, call string }{
		"serve": {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"initializationOptions":{"sessions":"all"}}}` + "\n" + `{"jsonrpc":"2.0","method":"initialized","params":{}}`,
			`{"jsonrpc":"2.0","id":%d,"method":"hook/handle","params":{"host":"generic","payload":{"event":"prompt","sessionId":"s%[1]d","text":"hello"}}}` + "\n" +
				`{"jsonrpc":"2.0","id":"list %[1]d","method":"session/list"}`},
		"mcp": {`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"inspect_state","arguments":{"limit":100}}}`},
	} {
		t.Run(door, func(t *testing.T) {
			m := newMachine(t)
			cmd := m.command(door)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe() // kept open, and never read
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			var asked atomic.Int64
			go func() {
				fmt.Fprintln(in, calls.greeting)
				for n := 1; n < 20_000; n++ {
					if _, err := fmt.Fprintf(in, calls.call+"\n", n); err != nil {
						return
					}
					asked.Store(int64(n))
				}
			}()
			for before := int64(-1); before != asked.Load() || before == 0; time.Sleep(500 * time.Millisecond) {
				before = asked.Load() // until the server reads no more
			}
			peak := residentPeak(t, cmd.Process.Pid)
			in.Close()
			out.Close() // as when a client dies
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("it ends with %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("it does not end with its client")
			}
			if t.Logf("%d MiB resident at the most, %d calls taken", peak>>20, asked.Load()); peak > 100<<20 {
				t.Errorf("%d MiB resident", peak>>20)
			}
		})
	}
}
