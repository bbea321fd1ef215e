package test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// machine is one user's machine: a HOME with ctxls in it.
type machine struct {
	t         *testing.T
	bin, home string
}

func newMachine(t *testing.T) *machine { return &machine{t, buildAll(t), t.TempDir()} }

// command prepares ctxls. It shows all paths of a session, so that tests can search for each.
func (m *machine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(m.bin, "ctxls"), args...)
	cmd.Env, cmd.Dir = append(environment(m.home), "CTXLS_COMPACTION_MAX_PATHS=200"), m.home
	return cmd
}

// hookRun is the result of a hook's process.
type hookRun struct {
	stdout, stderr string
	exit           int // -1 if a signal ended it
}

// hook runs a hook to its end, as a host does.
func (m *machine) hook(host, payload string) hookRun {
	m.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := m.command("hook", host)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(payload), &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		m.t.Error(err)
		return hookRun{exit: -1}
	}
	return hookRun{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// heard runs hooks with the same event until one finishes in time, like a host's next event. On a busy machine a hook
// may give up.
func (m *machine) heard(host, payload string) {
	m.t.Helper()
	for attempt := 0; ; attempt++ {
		before := m.givenUp()
		r := m.hook(host, payload)
		if r.exit != 0 || strings.Contains(r.stderr, "\n") && m.givenUp() == before && !strings.Contains(r.stderr, "gave up") {
			m.t.Fatalf("%s: %+v", host, r)
		}
		if m.givenUp() == before && r.stderr == "" {
			return
		}
		if attempt == 50 {
			m.t.Fatalf("%s: 50 hooks gave up; the log:\n%s", host, m.log())
		}
	}
}

func (m *machine) log() string {
	text, _ := os.ReadFile(filepath.Join(m.home, "ctxls", "ctxls.log"))
	return string(text)
}

// givenUp counts the hooks that logged a failure.
func (m *machine) givenUp() int {
	return strings.Count(m.log(), "hook gave up") + strings.Count(m.log(), "hook failed")
}

// shown has the members of a session that the tests look at.
type shown struct {
	Host       string   `json:"host"`
	SessionID  string   `json:"sessionId"`
	WorkingSet []string `json:"workingSet"`
	Usage      struct {
		Tokens *int `json:"tokens"`
	} `json:"usage"`
}

// sessions returns the sessions that users see.
func (m *machine) sessions() map[string]shown {
	m.t.Helper()
	cmd := m.command("sessions", "--all", "--json")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatal(err)
	}
	var list []shown
	if err := json.Unmarshal(out, &list); err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	all := map[string]shown{}
	for _, s := range list {
		all[s.SessionID] = s
	}
	return all
}

// sound checks every page of the database.
func (m *machine) sound() {
	m.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(m.home, "ctxls", "state.db"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	var said string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		m.t.Errorf("integrity_check: %s %v", said, err)
	}
	if moved, _ := filepath.Glob(filepath.Join(m.home, "ctxls", "*.corrupt-*")); len(moved) > 0 {
		m.t.Errorf("moved aside: %q", moved)
	}
}

// used is an event of the generic host that names a file, which is then in the session's working set. It always gets an
// answer, so an answer means that it was stored.
func used(session, file string) string {
	return fmt.Sprintf(`{"event":"tool/finished","sessionId":%q,"cwd":"/p","tool":"read","paths":[{"path":"/p/%s","use":"read"}]}`, session, file)
}

const answered = `{"version":1,"effects":[]}` + "\n"

// missing returns the files that are not in the working set of a session.
func (m *machine) missing(session string, files []string) []string {
	m.t.Helper()
	set := m.sessions()[session].WorkingSet
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return slices.Contains(set, file) })
}
