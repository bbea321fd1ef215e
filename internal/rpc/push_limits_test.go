package rpc

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/rpc/rpctest"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// The server queues nothing for a client that does not read. When the client reads again, its last notification of each
// session equals the stored state.
func TestAClientThatDoesNotReadHearsTheLatest(t *testing.T) {
	const sessions, size = 100, 20_000
	path := filepath.Join(t.TempDir(), "state.db")
	writer := shared(t, path)
	p := watcher(t, shared(t, path), "/home/me/a")
	rounds, full := 0, 0
	for ; full < 5; rounds++ { // until the pipe has been full for a while
		if rounds == 2000 {
			t.Fatal("the queue is not full")
		}
		for i := range sessions {
			sess := session.Session{Host: session.HostClaudeCode, SessionID: fmt.Sprint("s", i), CWD: "/home/me/a", Title: fmt.Sprintf("%d %s", rounds, strings.Repeat("x", size)), UpdatedAt: time.Now()}
			err := writer.Store.Update(t.Context(), core.Query{Key: sess.Key()}, func(session.State) session.Changes { return session.Changes{Session: &sess} })
			if err != nil {
				t.Fatal(err)
			}
		}
		queued, bytes := p.server.stream.Queued()
		if queued > transport.MaxQueued || bytes > transport.MaxQueuedBytes {
			t.Fatalf("%d notifications of %d bytes wait", queued, bytes)
		}
		if queued == transport.MaxQueued || bytes > transport.MaxQueuedBytes-2*size {
			full++
		}
	}
	if _, err := writer.Delete(t.Context(), session.Key{SessionID: "s0"}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(retryLast + retryFirst) // the last notification was tried too, and refused
	want := map[string]string{"s0": "removed"}
	for i := 1; i < sessions; i++ {
		want[fmt.Sprint("s", i)] = stored(t, writer, fmt.Sprint("s", i))
	}
	last, told := map[string]string{}, 0
	for ; !cmp.Equal(last, want); told++ {
		n := p.push()
		if n.Method == "session/removed" {
			last[n.Params.SessionID] = "removed"
			continue
		}
		raw, _ := json.Marshal(n.Params.Session)
		last[n.Params.Session.SessionID] = string(raw)
	}
	if told >= sessions*rounds {
		t.Errorf("told %d times of %d saves", told, sessions*rounds)
	}
}

func TestNothingIsPushedWithoutTheHandshake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	writer := shared(t, path)
	p := connect(t, transport.Header, Options{Service: shared(t, path)})
	greeted := connect(t, transport.Header, Options{Service: shared(t, path)})
	greeted.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	greeted.reply()
	witness := watcher(t, shared(t, path))
	for i := range 5 {
		prompt(t, writer, fmt.Sprint("s", i), "/home/me/a", "hello")
		witness.wantPushes(fmt.Sprintf("changed s%d active", i))
	}
	for _, p := range []*peer{p, greeted} {
		p.send(`{"jsonrpc":"2.0","id":7,"method":"test/echo","params":[]}`)
		p.want(`{"jsonrpc":"2.0","id":7,"result":[]}`)
		p.In.Close()
		p.wantEnd(nil)
	}
}

func TestPushingEndsWithTheConnection(t *testing.T) {
	service := shared(t, filepath.Join(t.TempDir(), "state.db"))
	prompt(t, service, "s1", "/home/me/a", "hello")
	before := runtime.NumGoroutine()
	for range 10 {
		p := watcher(t, service, "/home/me/a")
		p.wantPushes("changed s1 active")
		p.Stop()
		p.Wait(p.t)
		p.In.Close()
		p.Pipe.Close()
	}
	limit := time.Now().Add(rpctest.Timeout)
	for runtime.NumGoroutine() > before+2 { // database/sql's own of the connection that watches
		if time.Now().After(limit) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// BenchmarkPush measures the time from a writer's commit until a client has read the notification, at 40 events a second
// of 8 sessions.
func BenchmarkPush(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state.db")
	writer := shared(b, path)
	p := watcher(b, shared(b, path), "all")
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		time.Sleep(25 * time.Millisecond)
		prompt(b, writer, fmt.Sprint("s", i%8), "/home/me/a", strings.Repeat("x", i%100))
		start := time.Now()
		p.push()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(took[len(took)*99/100].Seconds()*1e3, "p99-ms")
}
