package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// With this variable set, the test binary acts as another process: it plays the role that the first word names, and
// exits.
const roleVariable = "CTXLS_TEST_ROLE"

// roles are the tasks of other processes, with the path of the store and further words as arguments.
var roles = map[string]func(ctx context.Context, path string, args []string) error{
	"open":    openRole,
	"count":   countRole,
	"counted": countedRole,
	"insert":  insertRole,
	"replace": replaceRole,
	"hook":    hookRole,
	"inspect": inspectRole,
	"forget":  forgetRole,
}

func TestMain(m *testing.M) {
	if role := strings.Split(os.Getenv(roleVariable), "\n"); role[0] != "" {
		if err := roles[role[0]](context.Background(), role[1], role[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process prepares another process that plays a role on the store at path.
func process(t testing.TB, role, path string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.Join(append([]string{role, path}, args...), "\n"))
	return cmd
}

// together runs n processes at once, and returns their outputs. All must exit with status 0.
func together(t testing.TB, n int, role, path string, args ...string) []string {
	t.Helper()
	outputs := make([]string, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			output, err := process(t, role, path, args...).CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, output)
			}
			outputs[i] = string(output)
		})
	}
	group.Wait()
	return outputs
}

// must opens the store for a role.
func must(ctx context.Context, path string) (*Store, error) {
	return Open(ctx, Options{Path: path, Report: func(what string) { fmt.Println("reported:", what) }})
}

// openRole opens the store, adds one to the trims and closes it.
func openRole(ctx context.Context, path string, _ []string) error {
	s, err := must(ctx, path)
	if err != nil {
		return err
	}
	if err := countOne(ctx, s); err != nil {
		return err
	}
	return s.Close()
}

// replaceRole moves the state aside, as if it were damaged.
func replaceRole(ctx context.Context, path string, _ []string) error {
	s, err := must(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(s.replace(ctx, s.file), s.Close())
}

// hookRole makes the update of a hook's event.
func hookRole(ctx context.Context, path string, _ []string) error {
	s, err := must(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(hookEvent(ctx, s, 1), s.Close())
}

// countedRole prints the count of countOne's updates.
func countedRole(ctx context.Context, path string, _ []string) error {
	s, err := must(ctx, path)
	if err != nil {
		return err
	}
	fleet, err := s.Fleet(ctx, 0)
	fmt.Println(fleet.Trim.Operations)
	return errors.Join(err, s.Close())
}

// countOne makes an update that increases a counter.
func countOne(ctx context.Context, s *Store) error {
	return s.Update(ctx, core.Query{}, func(session.State) session.Changes { return session.Changes{Trim: &fleet.TrimCount{Operations: 1}} })
}

// countRole makes a number of typical updates, each based on the value that it reads. With "row" it makes the smallest
// possible transactions instead.
func countRole(ctx context.Context, path string, args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	s, err := must(ctx, path)
	if err != nil {
		return err
	}
	update := hookEvent
	if args[1] == "row" {
		update = oneRow
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin) // until the measuring process starts all of them
	for i := range n {
		if err := update(ctx, s, i); err != nil {
			return err
		}
	}
	return s.Close()
}

// hookEvent returns the update of a hook's event: a session with new figures, three paths and a sample.
func hookEvent(ctx context.Context, s *Store, i int) error {
	key := session.Key{Host: session.HostClaudeCode, SessionID: "0191c2f4-7a2e-7c31-9f0a-2d6c5b1e8a44"}
	return s.Update(ctx, core.Query{Key: key}, func(state session.State) session.Changes {
		sess, at := state.Session, time.UnixMilli(int64(1_800_000_000_000+i))
		sess.Host, sess.SessionID, sess.UpdatedAt = key.Host, key.SessionID, at
		sess.CWD, sess.Model, sess.Provider = "/home/ada/src/engine", "claude-opus-4-6", "anthropic"
		sess.Turns++
		sess.Gauge = session.Gauge{Known: true, Tokens: 100_000 + i, Provenance: session.ProvenanceTranscript, At: at,
			Recent: []session.UsageTuple{{Input: 3, CacheRead: 90_000, CacheWrite: 1200, Output: 400}, {Input: 4, CacheRead: 91_000, CacheWrite: 900, Output: 80}}}
		changes := session.Changes{Session: &sess, MaxSessions: 100,
			Samples: []session.Sample{{At: at, Tokens: sess.Gauge.Tokens, WindowTokens: 200_000, Kind: session.SampleUsage}}}
		for n := range 3 {
			changes.Paths = append(changes.Paths, session.PathUse{Path: fmt.Sprintf("/home/ada/src/engine/internal/part%d/file.go", (i+n)%40), Use: session.Read, At: at})
		}
		return changes
	})
}

// oneRow reads and writes one row in its own transaction, on the store's own connection.
func oneRow(ctx context.Context, s *Store, _ int) error {
	return s.run(ctx, true, func(ctx context.Context, c *conn) error {
		var n int
		if _, err := c.row(ctx, "SELECT trim_operations FROM fleet", nil, &n); err != nil {
			return err
		}
		return c.exec(ctx, "UPDATE fleet SET trim_operations = ?", n+1)
	})
}

// insertRole saves one session after another until it is killed, and prints a line after each.
func insertRole(ctx context.Context, path string, args []string) error {
	s, err := must(ctx, path)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", args[0], i)
		sess := session.Session{Host: session.HostGeneric, SessionID: id, UpdatedAt: time.UnixMilli(int64(i))}
		err := s.Update(ctx, core.Query{Key: sess.Key()}, func(session.State) session.Changes {
			return session.Changes{Session: &sess, Samples: []session.Sample{{At: sess.UpdatedAt, Tokens: i, Kind: session.SampleUsage}}}
		})
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
}

// repeat returns the number of repetitions of a test, which is smaller in short mode.
func repeat(n int) int {
	if testing.Short() {
		return max(1, n/5)
	}
	return n
}

func TestNothingIsLostBetweenProcesses(t *testing.T) {
	const processes = 8
	// SQLite does not serve waiting processes in order. If an update takes a tenth of a second, as under the race
	// detector, eight processes with 200 updates each could make one wait longer than its busy timeout.
	each := repeat(200)
	path := filepath.Join(t.TempDir(), "state.db")
	together(t, processes, "count", path, fmt.Sprint(each), "event")
	s := open(t, path)
	found, err := s.FindSessions(t.Context(), "0191c2f4-7a2e-7c31-9f0a-2d6c5b1e8a44")
	if err != nil || len(found) != 1 {
		t.Fatalf("FindSessions: %d found, %v", len(found), err)
	}
	if got := found[0].Turns; got != processes*each {
		t.Errorf("%d of %d updates are there", got, processes*each)
	}
	samples, err := s.Samples(t.Context(), found[0].Key(), 0)
	if err != nil || len(samples) != processes*each {
		t.Errorf("%d of %d samples are there: %v", len(samples), processes*each, err)
	}
}

func TestManyProcessesMakeTheStoreAtOnce(t *testing.T) {
	const processes = 8
	rounds := repeat(20)
	for round := range rounds {
		path := filepath.Join(t.TempDir(), "not made yet", "state.db")
		for _, output := range together(t, processes, "open", path) {
			if output != "" {
				t.Errorf("round %d: %s", round, output)
			}
		}
		fleet, err := open(t, path).Fleet(t.Context(), 0)
		if err != nil || fleet.Trim.Operations != processes {
			t.Errorf("round %d: %d of %d updates are there: %v", round, fleet.Trim.Operations, processes, err)
		}
	}
}

func TestKilledWritersLoseNothingTheyAcknowledged(t *testing.T) {
	const writers = 3
	rounds := repeat(40)
	path := filepath.Join(t.TempDir(), "state.db")
	open(t, path).Close()
	acknowledged := 0
	for round := range rounds {
		var mu sync.Mutex
		var ids []string
		var group sync.WaitGroup
		for w := range writers {
			cmd := process(t, "insert", path, fmt.Sprintf("%d-%d", round, w))
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// Each process is killed while it writes, after a different number of updates.
			last := 1 + (round*7+w*13)%40
			group.Go(func() {
				defer cmd.Wait()
				lines := bufio.NewReader(stdout)
				for n := 0; ; n++ {
					if n == last {
						cmd.Process.Kill()
					}
					line, err := lines.ReadString('\n')
					if err == io.EOF || err != nil {
						if n < last {
							t.Errorf("round %d: writer %d ended by itself", round, w)
						}
						return
					}
					mu.Lock()
					ids = append(ids, strings.TrimSuffix(line, "\n"))
					mu.Unlock()
				}
			})
		}
		group.Wait()
		acknowledged += len(ids)

		s := open(t, path)
		check := ""
		if err := s.run(t.Context(), false, func(ctx context.Context, c *conn) error {
			_, err := c.row(t.Context(), "PRAGMA quick_check", nil, &check)
			return err
		}); err != nil || check != "ok" {
			t.Fatalf("round %d: quick_check: %s %v", round, check, err)
		}
		for _, id := range ids {
			key := session.Key{Host: session.HostGeneric, SessionID: id}
			if _, err := s.Session(t.Context(), key); err != nil {
				t.Fatalf("round %d: %s was acknowledged: %v", round, id, err)
			}
			if samples, err := s.Samples(t.Context(), key, 0); err != nil || len(samples) != 1 {
				t.Fatalf("round %d: %s has %d samples: %v", round, id, len(samples), err)
			}
		}
		s.Close()
	}
	t.Logf("%d acknowledged updates of %d killed writers", acknowledged, writers*rounds)
}

// A single process leaves a short log to the next process, and the log stays short.
func TestLogIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	kept, folded := 0, 0
	for i := range 200 {
		s := open(t, path)
		if err := hookEvent(t.Context(), s, i); err != nil {
			t.Fatal(err)
		}
		s.Close()
		info, err := os.Stat(path + "-wal")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			folded++
		case err != nil:
			t.Fatal(err)
		case info.Size() >= checkpointAt:
			t.Fatalf("after %d updates the log has %d bytes", i+1, info.Size())
		default:
			kept++
		}
	}
	if folded == 0 || kept < 10*folded {
		t.Errorf("folded after %d updates and kept after %d", folded, kept)
	}
	found, err := open(t, path).Sessions(t.Context(), core.SessionFilter{})
	if err != nil || len(found) != 1 || found[0].Session.Turns != 200 {
		t.Errorf("%v %v", found, err)
	}
}
