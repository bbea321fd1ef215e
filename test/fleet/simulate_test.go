//go:build linux && fleet

package fleet

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/team/postgres"
	"github.com/ctxls/ctxls/internal/team/push"
)

// simulated is a machine whose figures follow from its number and the time alone, so that a process which runs its pusher may be killed and
// another goes on. Each of its sessions changes once a second, at a moment of its own; every tenth change is a task, every fifteenth a compaction.
type simulated struct {
	number int
	begin  time.Time
	length time.Duration         // no change comes after it
	first  [perMachine]time.Time // when each session changes first
	done   []core.NumberedTask   // the tasks so far
}

const perMachine = 5 // sessions

func newSimulated(number int, begin time.Time, length time.Duration) *simulated {
	s := &simulated{number: number, begin: begin, length: length}
	for no := range s.first {
		s.first[no] = begin.Add(time.Duration(s.hash("phase", no)%1000) * time.Millisecond)
	}
	return s
}

func (s *simulated) hash(parts ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, s.number, parts)
	return h.Sum64()
}

// changes returns how many changes a session has made by an instant, and at returns when one of them was made, the first being 0.
func (s *simulated) changes(no int, now time.Time) int {
	now = now.Truncate(time.Millisecond)
	if end := s.begin.Add(s.length); now.After(end) {
		now = end
	}
	since := now.Sub(s.at(no, 0))
	if since < 0 {
		return 0
	}
	return int(since/time.Second) + 1
}

func (s *simulated) at(no, n int) time.Time { return s.first[no].Add(time.Duration(n) * time.Second) }

func (s *simulated) sample(no, n int) session.Sample {
	kind := session.SampleUsage
	if n%15 == 14 {
		kind = session.SampleCompaction
	}
	return session.Sample{At: s.at(no, n), Tokens: 10_000 + int(s.hash(no, n)%180_000), WindowTokens: 200_000, Kind: kind}
}

func (s *simulated) key(no int) session.Key {
	return session.Key{Host: session.HostClaudeCode, SessionID: fmt.Sprintf("machine-%d-session-%d", s.number, no)}
}

// Changed implements push.Source. A revision is the time in milliseconds.
func (s *simulated) Changed(_ context.Context, since int64) (core.ChangeSet, error) {
	now := time.Now()
	news := core.ChangeSet{Feed: core.Feed{Revision: since, Whole: since == 0}}
	for i := range perMachine {
		n := s.changes(i, now)
		if n == 0 {
			continue
		}
		last := s.sample(i, n-1)
		if last.At.UnixMilli() <= since {
			continue
		}
		news.Revision = max(news.Revision, last.At.UnixMilli())
		key, percent, level, left, point := s.key(i), float64(last.Tokens)/2000, core.LevelNormal, 167_000-last.Tokens, 167_000
		provenance := session.ProvenanceTranscript
		news.Sessions = append(news.Sessions, session.Snapshot{Session: session.Session{Host: key.Host, SessionID: key.SessionID}})
		news.Views = append(news.Views, core.SessionView{Host: key.Host, SessionID: key.SessionID, CWD: "/srv/project", Model: "claude-sonnet-4-6", Provider: "anthropic",
			StartedAt: s.begin, UpdatedAt: last.At, State: core.StateActive, Compactions: n / 15,
			Usage: core.Usage{Tokens: &last.Tokens, ProjectedTokens: &last.Tokens, WindowTokens: 200_000, Percent: &percent, Level: &level, Provenance: &provenance, Exact: true,
				AsOf: &last.At, CompactionTokens: &point, ToCompaction: &left, Display: core.Display{Tokens: &last.Tokens, LimitTokens: 200_000}}})
	}
	return news, nil
}

// SamplesFrom implements push.Source.
func (s *simulated) SamplesFrom(_ context.Context, key session.Key, from int64) (samples []core.NumberedSample, err error) {
	no := int(key.SessionID[len(key.SessionID)-1] - '0')
	for n := int(from); n < s.changes(no, time.Now()); n++ {
		samples = append(samples, core.NumberedSample{Seq: int64(n), Sample: s.sample(no, n)})
	}
	return samples, nil
}

// Tasks implements push.Source.
func (s *simulated) Tasks(context.Context) ([]core.NumberedTask, fleet.TrimCount, error) {
	return s.tasks(time.Now()), fleet.TrimCount{}, nil
}

// tasks returns the tasks by an instant, which is not before that of an earlier call. Sessions take turns.
func (s *simulated) tasks(now time.Time) []core.NumberedTask {
	for {
		i, n := len(s.done)%perMachine, len(s.done)/perMachine*10+9
		if s.changes(i, now) <= n {
			return s.done
		}
		sample := s.sample(i, n)
		s.done = append(s.done, core.NumberedTask{Seq: int64(len(s.done) + 1), Task: fleet.Task{ID: session.TurnTaskPrefix(s.key(i)) + fmt.Sprint(n), Tokens: sample.Tokens, At: sample.At}})
	}
}

// Watch implements push.Source. It wakes at each change.
func (s *simulated) Watch(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	go func() {
		for {
			now := time.Now()
			next := now.Add(time.Second)
			for i := range perMachine {
				if at := s.at(i, s.changes(i, now)); at.After(now) && at.Before(next) {
					next = at
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(next) + time.Millisecond):
			}
			select {
			case wake <- struct{}{}:
			default:
			}
		}
	}()
	return wake
}

// machine is the id of a simulated machine.
func (s *simulated) machine() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", s.number) }

// simulateVar tells the test binary to run the pushers of simulated machines instead of tests: "first last begin seconds url", separated by blanks.
const simulateVar = "CTXLS_FLEET_SIMULATE"

// simulate runs pushers until it is killed or interrupted.
func simulate(spec string) error {
	var first, last int
	var begin, seconds int64
	var url string
	if _, err := fmt.Sscan(spec, &first, &last, &begin, &seconds, &url); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if os.Getenv("CTXLS_FLEET_LOUD") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	var all sync.WaitGroup
	failed := make(chan error, last-first)
	for number := first; number < last; number++ {
		s := newSimulated(number, time.UnixMilli(begin), time.Duration(seconds)*time.Second)
		db, err := postgres.Open(url)
		if err != nil {
			return err
		}
		claims := 0
		p := &push.Pusher{Source: s, Sink: db, Machine: s.machine(), TakeOver: true, Schema: postgres.Schema, Version: "simulated", Now: time.Now,
			Redact:  push.Redaction{Salt: s.machine(), Team: fmt.Sprint("team ", number%10), Projects: push.ProjectHash},
			Claimed: func(string) error { return nil }}
		p.Claim = func() ([]string, string, error) {
			claims++
			p.TakeOver = true
			return []string{}, fmt.Sprintf("%08x-0000-4000-8000-%012d", os.Getpid(), claims), nil
		}
		all.Go(func() {
			defer db.Close()
			// Machines are not started at one moment, and to connect costs more than to push.
			spread := max(time.Until(s.begin)*8/10, time.Second)
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Duration(s.hash("start")%1000) * spread / 1000):
			}
			if err := p.Watch(ctx, time.Second, db.Close, log); err != nil {
				failed <- err
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// simulatedEqual holds every table against what the simulated machines hold in the end, row by row.
func (w testEnv) simulatedEqual(t *testing.T, machines int, begin time.Time, length time.Duration) {
	t.Helper()
	end := begin.Add(length + time.Minute)
	var samples, sessions, tasks, compactions []string
	for number := range machines {
		s := newSimulated(number, begin, length)
		redact := push.Redaction{Salt: s.machine()}
		for i := range perMachine {
			name := s.machine() + "|" + redact.Session(s.key(i)) + "|"
			for n := range s.changes(i, end) {
				x := s.sample(i, n)
				row := fmt.Sprintf("%s%d|%d|%d", name, n, x.At.UnixMilli(), x.Tokens)
				samples = append(samples, row)
				if x.Kind == session.SampleCompaction {
					compactions = append(compactions, row)
				}
			}
			last := s.changes(i, end) - 1
			x := s.sample(i, last)
			sessions = append(sessions, fmt.Sprintf("%s%d|%d|%d", name, last+1, x.At.UnixMilli(), x.Tokens))
		}
		for _, task := range s.tasks(end) {
			tasks = append(tasks, fmt.Sprintf("%s|%d|%d|%d", s.machine(), task.Seq, task.At.UnixMilli(), task.Tokens))
		}
	}
	const history = "SELECT m.machine, s.session, x.seq, (extract(epoch FROM x.at) * 1000)::bigint, x.tokens FROM ctxls.%s x JOIN ctxls.machines m ON m.id = x.machine JOIN ctxls.sessions s ON s.machine = x.machine AND s.no = x.session"
	for _, table := range []struct {
		name, query string
		want        []string
	}{
		{"samples", fmt.Sprintf(history, "samples"), samples},
		{"compactions", fmt.Sprintf(history, "compactions"), compactions},
		{"sessions", "SELECT m.machine, s.session, s.seq, (extract(epoch FROM s.updated_at) * 1000)::bigint, s.tokens FROM ctxls.sessions s JOIN ctxls.machines m ON m.id = s.machine", sessions},
		{"tasks", "SELECT m.machine, x.seq, (extract(epoch FROM x.at) * 1000)::bigint, x.tokens FROM ctxls.tasks x JOIN ctxls.machines m ON m.id = x.machine", tasks},
	} {
		got := w.Query(t, w.database, table.query)
		slices.Sort(got)
		slices.Sort(table.want)
		if !slices.Equal(got, table.want) {
			t.Errorf("%s: %d rows, and the machines have %d; the first that differ: %s", table.name, len(got), len(table.want), firstDifference(got, table.want))
		}
	}
	t.Logf("compared row by row: %d samples, %d sessions, %d tasks, %d compactions", len(samples), len(sessions), len(tasks), len(compactions))
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%q, want %q", got[i], want[i])
		}
	}
	return "one is the beginning of the other"
}

// redactedSession is the name under which a session of a simulated machine is sent.
func redactedSession(s *simulated, no int) string {
	return push.Redaction{Salt: s.machine()}.Session(s.key(no))
}
