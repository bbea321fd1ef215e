package test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The number of clients and writers, and the number of hooks that each writer starts.
const (
	writers       = 8
	clients       = 4
	eventInterval = 200 * time.Millisecond
)

// editor is a client of its own `ctxls serve`.
type editor struct {
	server *exec.Cmd
	in     io.WriteCloser

	mu   sync.Mutex
	last map[string]json.RawMessage // the last notification, by session
	told map[string][]telling       // all notifications with their times, in order
	// alerts is the number of alerts.
	alerts int

	replies chan json.RawMessage
	settled int // calls of settle
}

// telling is the time of the notification about a session's event at an instant.
type telling struct{ event, told time.Time }

// startEditor starts a server and shakes hands. It records all notifications until the server ends.
func startEditor(tb testing.TB, bin, home string) *editor {
	tb.Helper()
	e := &editor{server: exec.Command(filepath.Join(bin, "ctxls"), "serve", "--framing=line"), last: map[string]json.RawMessage{},
		told: map[string][]telling{}, replies: make(chan json.RawMessage, 1)}
	e.server.Env, e.server.Dir = environment(home), home
	in, err := e.server.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := e.server.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := e.server.Start(); err != nil {
		tb.Fatal(err)
	}
	e.in = in
	tb.Cleanup(func() {
		in.Close()
		e.server.Wait()
	})
	go e.listen(out)
	e.ask("initialize", `{"initializationOptions":{"sessions":"all"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	return e
}

func environment(home string) []string {
	return []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "PATH=" + os.Getenv("PATH")}
}

func (e *editor) listen(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			close(e.replies)
			return
		}
		now := time.Now()
		var m struct {
			ID     *int            `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Params struct {
				Session json.RawMessage `json:"session"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if m.ID != nil {
			e.replies <- m.Result
			continue
		}
		id, at := identify(m.Params.Session)
		e.mu.Lock()
		if m.Method == "metrics/thresholdExceeded" {
			e.alerts++
			e.mu.Unlock()
			continue
		}
		e.last[id] = m.Params.Session
		e.told[id] = append(e.told[id], telling{at, now})
		e.mu.Unlock()
	}
}

// identify returns the ID of a session and the instant of its last event.
func identify(session json.RawMessage) (id string, at time.Time) {
	var s struct {
		SessionID string    `json:"sessionId"`
		UpdatedAt time.Time `json:"updatedAt"`
	}
	json.Unmarshal(session, &s)
	return s.SessionID, s.UpdatedAt
}

// ask sends a request and returns the result.
func (e *editor) ask(method, params string) json.RawMessage {
	fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
	return <-e.replies
}

// state returns every session as it is stored now.
func (e *editor) state() map[string]json.RawMessage {
	var list struct {
		Sessions []json.RawMessage `json:"sessions"`
	}
	json.Unmarshal(e.ask("session/list", `{"includeEnded":true}`), &list)
	all := map[string]json.RawMessage{}
	for _, s := range list.Sessions {
		id, _ := identify(s)
		all[id] = s
	}
	return all
}

// heard returns the last notification of each session.
func (e *editor) heard() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return texts(e.last)
}

// alerted returns the number of alerts.
func (e *editor) alerted() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.alerts
}

func texts(sessions map[string]json.RawMessage) map[string]string {
	all := map[string]string{}
	for id, s := range sessions {
		all[id] = string(s)
	}
	return all
}

// write lets the writers start hooks, with one session for each writer, and each event at its time. It calls look after
// every hook's exit.
func write(tb testing.TB, bin, home string, events int, look func(session string, exit time.Time)) {
	tb.Helper()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			time.Sleep(time.Duration(w) * eventInterval / writers)
			beat := time.NewTicker(eventInterval)
			defer beat.Stop()
			session := fmt.Sprint("s", w)
			for i := range events {
				cmd := exec.Command(filepath.Join(bin, "ctxls"), "hook", "claude-code")
				cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":"/home/dev/project","hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Read","tool_input":{"file_path":"/home/dev/project/file%d.go"},"tool_use_id":"t%d","tool_response":"1"}]}`, session, i, i))
				cmd.Env, cmd.Dir = environment(home), home
				if out, err := cmd.CombinedOutput(); err != nil {
					tb.Errorf("%v: %s", err, out)
					return
				}
				look(session, time.Now())
				<-beat.C
			}
		})
	}
	group.Wait()
}

// After many concurrent hooks, each client's last notification of each session equals the stored state.
func TestEveryClientEndsWithTheStoredState(t *testing.T) {
	bin, home := buildAll(t), t.TempDir()
	var editors []*editor
	for range clients {
		editors = append(editors, startEditor(t, bin, home))
	}
	write(t, bin, home, 10, func(string, time.Time) {})
	for i, e := range editors { // an event through one server notifies the clients of the others
		e.ask("hook/handle", fmt.Sprintf(`{"host":"claude-code","payload":{"session_id":"of client %d","cwd":%q,"hook_event_name":"UserPromptSubmit","prompt":"hello"}}`, i, home))
	}
	want := texts(editors[0].state())
	if len(want) != writers+clients {
		t.Fatalf("%d sessions are stored, want %d", len(want), writers+clients)
	}
	for i, e := range editors {
		limit := time.Now().Add(30 * time.Second)
		for !cmp.Equal(e.heard(), want) && time.Now().Before(limit) {
			time.Sleep(10 * time.Millisecond)
		}
		if diff := cmp.Diff(want, e.heard()); diff != "" {
			t.Errorf("client %d (-stored +told):\n%s", i, diff)
		}
	}
}

// BenchmarkPush measures the time from the exit of a hook until clients of other processes are notified. 8 sessions have
// 5 events a second each, and each of 4 servers has a client:
//
//	go test -run '^$' -bench Push -benchtime 1x ./test
//
// It counts as 0 where they were told before the exit. What is told together with a later event is told with that.
func BenchmarkPush(b *testing.B) {
	const events = 50
	bin := buildAll(b)
	var took []time.Duration
	for b.Loop() {
		home := b.TempDir()
		var editors []*editor
		for range clients {
			editors = append(editors, startEditor(b, bin, home))
		}
		var mu sync.Mutex
		var exits []func()
		asker := startEditor(b, bin, home)
		var asking sync.Mutex
		write(b, bin, home, events, func(session string, exit time.Time) {
			asking.Lock()
			stored := asker.ask("session/get", fmt.Sprintf(`{"sessionId":%q}`, session))
			asking.Unlock()
			id, at := identify(stored)
			mu.Lock()
			defer mu.Unlock()
			exits = append(exits, func() {
				for _, e := range editors {
					e.mu.Lock()
					i := slices.IndexFunc(e.told[id], func(t telling) bool { return !t.event.Before(at) })
					if i < 0 {
						b.Errorf("%s of %s was never told", id, at)
					} else {
						took = append(took, max(0, e.told[id][i].told.Sub(exit)))
					}
					e.mu.Unlock()
				}
			})
		})
		time.Sleep(time.Second)
		for _, look := range exits {
			look()
		}
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
	b.ReportMetric(took[len(took)-1].Seconds()*1e3, "max-ms")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRest measures a server with a client and 100 sessions, without events for a minute: its share of a core in
// percent, and its resident memory.
//
//	go test -run '^$' -bench Rest -benchtime 1x ./test
func BenchmarkRest(b *testing.B) {
	const rest = time.Minute
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		b.Skip("the time of a process is read from /proc/PID/task/*/schedstat, which this system has not")
	}
	bin, home := buildAll(b), b.TempDir()
	for i := range 100 {
		cmd := exec.Command(filepath.Join(bin, "ctxls"), "hook", "claude-code")
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s%d","cwd":"/home/dev/project","hook_event_name":"UserPromptSubmit","prompt":"hello"}`, i))
		cmd.Env, cmd.Dir = append(environment(home), fmt.Sprint("CLAUDE_PID=", os.Getpid())), home
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	e := startEditor(b, bin, home)
	for len(e.heard()) < 100 {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(3 * time.Second) // the collector gives memory back
	var share float64
	var size int
	for b.Loop() {
		start, before := time.Now(), worked(b, e.server.Process.Pid)
		time.Sleep(rest)
		share = 100 * float64(worked(b, e.server.Process.Pid)-before) / float64(time.Since(start))
		size = resident(b, e.server.Process.Pid)
	}
	b.ReportMetric(share, "percent")
	b.ReportMetric(float64(size)/1024, "MiB")
	b.ReportMetric(0, "ns/op")
}

// worked returns the processor time of a process's threads.
func worked(b *testing.B, pid int) (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		ns, _, _ := bytes.Cut(data, []byte(" "))
		n, err := strconv.ParseInt(string(ns), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(n)
	}
	return sum
}

// resident returns the resident memory of a process, in KiB.
func resident(b *testing.B, pid int) (size int) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	fmt.Sscan(rest, &size)
	return size
}
