//go:build linux && fleet

package fleet

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/team/teamtest"
)

// After any process is killed at any time, the database at the end has each of the machine's rows once.
func TestKillingEitherSide(t *testing.T) {
	w := newTestEnv(t, "synchronous_commit=off")
	m := teamtest.NewMachine(t, "")
	var log bytes.Buffer
	start := func() *exec.Cmd {
		cmd := w.command("alice", "push", "--watch", "--every=10ms", state(m))
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	kill := func(cmd *exec.Cmd) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	pusher := start()
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range 300 {
		m.Grow(t, []string{"one", "two", "three"}[rng.IntN(3)], 1000+rng.IntN(250_000))
		if i%97 == 50 {
			m.Delete(t, "two")
		}
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		switch {
		case i%100 == 70:
			w.Kill()
			time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
			w.Start(t)
		case i%15 == 7:
			kill(pusher)
			pusher = start()
		}
	}
	time.Sleep(100 * time.Millisecond)
	kill(pusher)
	w.fleet(t, "alice", "push", state(m))
	w.Equal(t, w.database, m)
	if rows := w.Query(t, w.database, "SELECT count(*) > 150 FROM ctxls.tasks"); rows[0] != "t" {
		t.Error("hardly anything was sent")
	}
	w.fleet(t, "alice", "push", state(m))
	w.Equal(t, w.database, m)
	if t.Failed() {
		t.Log(log.String())
	}
}
