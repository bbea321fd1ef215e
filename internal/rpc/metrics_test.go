package rpc

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
)

// Requirements on the fleet's figures, tested with the real store and a client's connection.

// fleet is a client of a server, and the service of another process that records tasks.
type doors struct {
	*peer
	writer, witness  *core.Service
	tasks, witnessed int
}

func newFleet(t *testing.T) *doors {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	f := &doors{watcher(t, shared(t, path), "/home/me/a"), shared(t, path), shared(t, path), 0, 0}
	f.wantAlerts() // alerts from here on are new
	return f
}

// record records n tasks of some tokens.
func (f *doors) record(n, tokens int) {
	f.t.Helper()
	for range n {
		f.tasks++
		if _, _, err := f.writer.RecordTask(f.t.Context(), fmt.Sprint("task ", f.tasks), tokens); err != nil {
			f.t.Fatal(err)
		}
	}
}

// wantAlerts checks that the client got exactly these alerts. A later change proves that there are no more.
func (f *doors) wantAlerts(want ...string) {
	f.t.Helper()
	f.wantPushes(want...)
	for range 2 { // an alert follows the changes of the same poll
		f.witnessed++
		prompt(f.t, f.witness, "witness", "/home/me/a", fmt.Sprint(f.witnessed))
		f.wantPushes("changed witness active")
	}
}

// report asks the server for its report, as JSON.
func (f *doors) report() (raw string, r fleet.ContextOptimizationReport) {
	f.t.Helper()
	f.send(`{"jsonrpc":"2.0","id":1,"method":"metrics/report"}`)
	text, err := f.receive()
	for err == nil && strings.Contains(text, `"method"`) { // an alert
		text, err = f.receive()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	var reply struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(text), &reply); err != nil || json.Unmarshal(reply.Result, &r) != nil {
		f.t.Fatalf("%s: %v", text, err)
	}
	return string(reply.Result), r
}

func TestExactlyTenPercentGivesNoAlert(t *testing.T) {
	f := newFleet(t)
	f.record(900, 200_000) // at the threshold is not above it
	f.record(100, 200_001)
	f.wantAlerts()
	if _, r := f.report(); r.P90ExceedanceRate != 0.1 {
		t.Errorf("the rate is %v", r.P90ExceedanceRate)
	}
}

func TestTenPointOnePercentGivesOneAlert(t *testing.T) {
	f := newFleet(t)
	f.record(900, 200_000)
	f.record(101, 200_001) // the first of the 900 falls out of the last thousand
	f.wantAlerts("alert 0.101 of 1000")
	f.record(10, 200_001)
	f.wantAlerts()
}

func TestAClockSetBackDoesNotSilenceTheAlertForEver(t *testing.T) {
	for _, back := range []time.Duration{time.Second, 59 * time.Second, time.Minute, time.Hour, 365 * 24 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			f := newFleet(t)
			now := time.Now()
			f.writer.Now = func() time.Time { return now }
			f.record(1, 250_000)
			f.wantAlerts("alert 1 of 1")
			now = now.Add(-back)
			silent := time.Duration(0)
			for ; ; silent += 10 * time.Second {
				f.tasks++
				_, alert, err := f.writer.RecordTask(t.Context(), fmt.Sprint("task ", f.tasks), 250_000)
				if err != nil {
					t.Fatal(err)
				}
				if alert != nil {
					break
				}
				if silent > 2*time.Minute {
					t.Fatalf("silent for %v", silent)
				}
				now = now.Add(10 * time.Second)
			}
			f.wantAlerts(fmt.Sprintf("alert 1 of %d", f.tasks))
		})
	}
}

func TestATaskRecordedThriceIsOneEntryWithItsMaximum(t *testing.T) {
	f := newFleet(t)
	for _, tokens := range []int{30_000, 50_000, 40_000} {
		f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"metrics/record","params":{"taskId":"t","tokens":%d}}`, tokens))
		if r := f.reply(); r.Error != nil {
			t.Fatalf("%+v", r)
		}
	}
	if raw, r := f.report(); r.Tasks != 1 || r.MaxTokens != 50_000 || r.AverageTokens != 50_000 || r.P50Tokens != 50_000 {
		t.Errorf("%s", raw)
	}
}

func TestTheReportCoversExactlyTheLastThousandTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("it records 2036 tasks, one after another")
	}
	f := newFleet(t)
	const more = 37
	f.record(more, 900_000) // none of these
	f.record(1, 1_000)      // but this
	f.record(998, 2_000)
	f.record(1, 3_000)
	raw, r := f.report()
	if r.Tasks != 1000 || r.MaxTokens != 3_000 || r.P90ExceedanceRate != 0 || r.AverageTokens != 2_000 {
		t.Errorf("%s", raw)
	}
	f.record(1, 2_000) // pushes the one of 1,000 out
	f.record(999, 5_000)
	if raw, r := f.report(); r.Tasks != 1000 || r.MaxTokens != 5_000 || r.AverageTokens != 4_997 || r.P50Tokens != 5_000 {
		t.Errorf("%s", raw)
	}
}

func TestAnEmptyRingGivesZeros(t *testing.T) {
	f := newFleet(t)
	raw, _ := f.report()
	const want = `{"p90ExceedanceRate":0,"averageTokens":0,"trimOperations":0,"tasks":0,"windowTasks":1000,"thresholdTokens":200000,` +
		`"p50Tokens":0,"p90Tokens":0,"p99Tokens":0,"maxTokens":0,"trimmedTokens":0,"since":null}`
	if raw != want {
		t.Errorf("the report is\n%s, want\n%s", raw, want)
	}
}
