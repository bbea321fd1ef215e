//go:build linux && fleet

package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/team/postgres"
	"github.com/ctxls/ctxls/internal/team/push"
	"github.com/ctxls/ctxls/internal/team/teamtest"
)

// ctxls runs ctxls on a machine's state and reads the JSON that it prints.
func ctxls[T any](t *testing.T, m *teamtest.Machine, args ...string) (v T) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "ctxls"), append(args, "--json", state(m))...)
	cmd.Env = []string{"HOME=/nonexistent"}
	if err := json.Unmarshal([]byte(output(t, cmd)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// What the machines report each by itself, added up, is what the fleet reports.
func TestTheSumOfReports(t *testing.T) {
	w := newTestEnv(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var machines []*teamtest.Machine
	var want core.FleetReport
	var tokens []int
	exceeding := 0
	sessions := map[string]core.SessionView{} // by the id that is sent
	for range 20 {
		m := teamtest.NewMachine(t, "")
		for range 25 {
			m.Grow(t, fmt.Sprint("s", rng.IntN(4)), 1000+rng.IntN(280_000))
		}
		w.fleet(t, "alice", "push", "--team=blue", state(m))
		machines = append(machines, m)
		r := ctxls[core.FleetReport](t, m, "report")
		want.Tasks, want.Sessions, want.Compactions = want.Tasks+r.Tasks, want.Sessions+r.Sessions, want.Compactions+r.Compactions
		want.MaxTokens = max(want.MaxTokens, r.MaxTokens)
		tokens = append(tokens, r.TaskTokens...)
		exceeding += int(math.Round(r.P90ExceedanceRate * float64(r.Tasks)))
		id, err := push.OpenIdentity(m.Dir, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range ctxls[[]core.SessionView](t, m, "sessions", "--all") {
			sessions[push.Redaction{Salt: id.Salt}.Session(session.Key{Host: v.Host, SessionID: v.SessionID})] = v
		}
	}
	w.Equal(t, w.database, machines...)

	var got postgres.Report
	if err := json.Unmarshal([]byte(w.fleet(t, "rita", "report", "--by=team", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	slices.Sort(tokens)
	rank := func(share float64) int { return tokens[int(math.Ceil(share*float64(len(tokens))))-1] }
	sum := 0
	for _, n := range tokens {
		sum += n
	}
	want.P50Tokens, want.P90Tokens, want.P99Tokens = rank(0.5), rank(0.9), rank(0.99)
	want.AverageTokens = int(math.Round(float64(sum) / float64(len(tokens))))
	want.P90ExceedanceRate = float64(exceeding) / float64(len(tokens))
	want.ThresholdTokens, want.Histogram, want.TaskTokens, want.Since = 200_000, fleet.Histogram(tokens), []int{}, got.Since
	if diff := cmp.Diff(want, got.FleetReport); diff != "" {
		t.Errorf("-machines +fleet:\n%s", diff)
	}
	if want.Tasks != 500 || exceeding < 50 {
		t.Errorf("%d tasks, %d exceeding: this proves little", want.Tasks, exceeding)
	}
	if len(got.Groups) != 1 || got.Groups[0].Name != "blue" || got.Groups[0].Tasks != 500 || got.Groups[0].P90Tokens != want.P90Tokens {
		t.Errorf("by team: %+v", got.Groups)
	}
	if got.Alert == nil || got.Alert.Tasks != 500 || got.Machines != 20 {
		t.Errorf("alert %+v of %d machines", got.Alert, got.Machines)
	}
	for by, name := range map[string]string{"model": "claude-sonnet-4-6", "host": "claude-code", "project": push.Redaction{Team: "blue", Projects: push.ProjectHash}.Project("/home/alice/payroll")} {
		if shown := w.fleet(t, "rita", "report", "--by="+by); !strings.Contains(shown, strings.ToUpper(by)) || !strings.Contains(shown, name) || !strings.Contains(shown, "alert:") {
			t.Errorf("by %s:\n%s", by, shown)
		}
	}

	var found []postgres.Session
	if err := json.Unmarshal([]byte(w.fleet(t, "rita", "sessions", "--all", "--json")), &found); err != nil {
		t.Fatal(err)
	}
	for _, s := range found {
		local, known := sessions[s.SessionID]
		if !known || s.Team != "blue" {
			t.Fatalf("nobody sent %q of %q", s.SessionID, s.Team)
		}
		delete(sessions, s.SessionID)
		local.Usage.WindowWhy, local.SessionID, local.Title, local.WorkingSet, local.CWD, local.Source = "", s.SessionID, "", []string{}, s.CWD, ""
		if diff := cmp.Diff(local, s.SessionView); diff != "" {
			t.Errorf("-machine +fleet:\n%s", diff)
		}
	}
	if len(sessions) > 0 {
		t.Errorf("%d sessions are missing", len(sessions))
	}
	if shown := w.fleet(t, "rita", "sessions"); strings.Count(shown, "\n") != len(found)+1 || !strings.Contains(shown, "claude-sonnet-4-6") {
		t.Errorf("sessions:\n%s", shown)
	}
	page := filepath.Join(t.TempDir(), "report.html")
	w.fleet(t, "rita", "report", "--html="+page)
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), found[0].SessionID) {
		t.Errorf("the page: %v", err)
	}
}

func TestPrune(t *testing.T) {
	w := newTestEnv(t)
	old, young := teamtest.NewMachine(t, ""), teamtest.NewMachine(t, "")
	old.Start = old.Start.Add(-100 * 24 * time.Hour)
	for i := range 10 {
		old.Grow(t, "long ago", 250_000-20_000*i)
		young.Grow(t, "today", 100_000)
	}
	old.Grow(t, "today too", 1000)
	w.fleet(t, "alice", "push", state(old))
	w.fleet(t, "alice", "push", state(young))
	w.Equal(t, w.database, old, young)
	if got := w.fleet(t, "owner", "prune", "--keep=90d"); got != "dropped 1 days\n" {
		t.Errorf("prune: %q", got)
	}
	w.fleet(t, "alice", "push", state(old)) // which has its old tasks at hand still
	w.Equal(t, w.database, young)
	if got := w.fleet(t, "owner", "prune", "--keep=90d"); got != "dropped 0 days\n" {
		t.Errorf("prune once more: %q", got)
	}
}

func TestThePasswordIsNowhere(t *testing.T) {
	w := newTestEnv(t)
	cmd := w.command("alice", "push", "--to=postgres://alice:hush@127.0.0.1/team1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "list of processes") || strings.Contains(string(out), "hush") {
		t.Errorf("a password on the command line: %v\n%s", err, out)
	}
	cmd = w.command("alice", "push", "--state="+filepath.Join(t.TempDir(), "state.db"))
	cmd.Env = append(cmd.Env, "PGPASSWORD=hush")
	out, err = cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "refuses the login") || strings.Contains(string(out), "hush") {
		t.Errorf("a wrong password: %v\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(file, []byte(fmt.Sprintf("127.0.0.1:%d:*:alice:%s\n", w.Port, strings.ReplaceAll(teamtest.Password, ":", `\:`))), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd = w.command("alice", "push", fmt.Sprintf("--to=postgres://alice@127.0.0.1:%d/%s", w.Port, w.database), "--state="+filepath.Join(t.TempDir(), "state.db"))
	cmd.Env = []string{"HOME=/nonexistent", "PGPASSFILE=" + file, "PGSSLMODE=disable"}
	output(t, cmd)
}
