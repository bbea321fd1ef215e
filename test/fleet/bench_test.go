//go:build linux && fleet

package fleet

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ctxls/ctxls/internal/team/teamtest"
)

// trial is a run of simulated machines against one server.
type trial struct {
	machines, processes int // pushers, and how many processes run them
	length              time.Duration
	killServer          int           // how often the server is killed
	killPushers         int           // how often a process of pushers is
	cut                 time.Duration // how long packets are dropped
}

// herd is the processes that run the pushers of a trial.
type herd struct {
	specs  []string
	cmds   []*exec.Cmd
	cpu    time.Duration // of those that ended
	output bytes.Buffer
}

func (h *herd) start(t *testing.T, i int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), simulateVar+"="+h.specs[i], "GOMAXPROCS=2")
	cmd.Stderr = &h.output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.cmds[i] = cmd
}

func (h *herd) stop(i int, by os.Signal) error {
	_ = h.cmds[i].Process.Signal(by)
	err := h.cmds[i].Wait()
	h.cpu += h.cmds[i].ProcessState.UserTime() + h.cmds[i].ProcessState.SystemTime()
	return err
}

// result is what a trial found.
type result struct {
	lag             []time.Duration // of each change until a reader saw it, or a later one
	pushers, server float64         // cores
	begin           time.Time
}

// run carries a trial out. In the end each pusher has some time to send what is missing.
func (w testEnv) run(t *testing.T, tr trial) (r result) {
	t.Helper()
	url := fmt.Sprintf("postgres://alice@127.0.0.1:%d/%s?sslmode=disable", w.Port, w.database)
	t.Setenv("PGPASSWORD", teamtest.Password)
	r.begin = time.Now().Add(3*time.Second + time.Duration(tr.machines)*30*time.Millisecond).Truncate(time.Millisecond)
	h := &herd{cmds: make([]*exec.Cmd, tr.processes)}
	for i := range tr.processes {
		h.specs = append(h.specs, fmt.Sprintf("%d %d %d %d %s", i*tr.machines/tr.processes, (i+1)*tr.machines/tr.processes, r.begin.UnixMilli(), int(tr.length.Seconds()), url))
		h.start(t, i)
	}
	time.Sleep(time.Until(r.begin))
	before := w.cpu()
	started := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var reading sync.WaitGroup
	if tr.killServer == 0 && tr.cut == 0 {
		reading.Go(func() { r.lag = w.watch(ctx, t, tr, r.begin) })
	}
	w.disturb(t, tr, h)
	time.Sleep(time.Until(r.begin.Add(tr.length)))
	spent := time.Since(started).Seconds()
	r.server = (w.cpu() - before).Seconds() / spent
	// What was disturbed may be in the longest pause between two tries.
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		if rows := w.Query(t, w.database, "SELECT coalesce(sum(seq), 0) FROM ctxls.sessions"); rows[0] == strconv.Itoa(w.changes(tr, r.begin)) {
			break
		}
	}
	time.Sleep(time.Second) // for the last tasks
	cancel()
	reading.Wait()
	for i := range h.cmds {
		if err := h.stop(i, os.Interrupt); err != nil {
			t.Errorf("pushers: %v\n%s", err, h.output.String())
		}
	}
	r.pushers = h.cpu.Seconds() / spent // with what it took to connect
	return r
}

// changes returns how many changes all machines make.
func (w testEnv) changes(tr trial, begin time.Time) (sum int) {
	for number := range tr.machines {
		s := newSimulated(number, begin, tr.length)
		for i := range perMachine {
			sum += s.changes(i, begin.Add(tr.length+time.Minute))
		}
	}
	return sum
}

// disturb kills and cuts what the trial asks for, spread over its length.
func (w testEnv) disturb(t *testing.T, tr trial, h *herd) {
	total := tr.killServer + tr.killPushers
	if tr.cut > 0 {
		total++
	}
	if total == 0 {
		return
	}
	var acts []func()
	for range tr.killPushers {
		acts = append(acts, func() {
			i := rand.IntN(len(h.cmds))
			_ = h.stop(i, syscall.SIGKILL)
			h.start(t, i)
		})
	}
	for range tr.killServer {
		acts = append(acts, func() { w.Kill(); w.Start(t) })
	}
	if tr.cut > 0 {
		acts = append(acts, func() {
			ip(t, "link", "set", "lo", "down")
			time.Sleep(tr.cut)
			ip(t, "link", "set", "lo", "up")
		})
	}
	rand.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	pause := (tr.length - tr.cut) * 8 / 10 / time.Duration(total)
	for _, act := range acts {
		time.Sleep(pause)
		act()
	}
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// watch reads what a reader sees, five times a second, and returns how long each change took until a reader saw it, or a later one.
func (w testEnv) watch(ctx context.Context, t *testing.T, tr trial, begin time.Time) (lag []time.Duration) {
	conn, err := pgx.Connect(ctx, w.URL("rita", w.database))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer conn.Close(context.Background())
	index, fleet := map[string]int{}, make([]*simulated, tr.machines)
	for number := range tr.machines {
		s := newSimulated(number, begin, tr.length)
		fleet[number] = s
		for i := range perMachine {
			index[redactedSession(s, i)] = number*perMachine + i
		}
	}
	seen := make([]int, tr.machines*perMachine)
	for ctx.Err() == nil {
		rows, err := conn.Query(ctx, "SELECT session, seq FROM ctxls.sessions")
		if err != nil {
			break
		}
		var session string
		var seq int
		now := time.Now()
		_, err = pgx.ForEachRow(rows, []any{&session, &seq}, func() error {
			i, known := index[session]
			if !known {
				return fmt.Errorf("a session that no machine has: %s", session)
			}
			for ; seen[i] < seq; seen[i]++ {
				lag = append(lag, now.Sub(fleet[i/perMachine].at(i%perMachine, seen[i])))
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			t.Error(err)
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return lag
}

// cpu returns the time that all processes of the server have used, those that ended included.
func (w testEnv) cpu() (sum time.Duration) {
	const tick = time.Second / 100 // Linux tells processes' times so, whatever its own clock
	all := w.Processes()
	for i, pid := range all {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		times := fields[11:13]
		if i == len(all)-1 { // the postmaster, which sums up its children that ended
			times = fields[11:15]
		}
		for _, field := range times {
			n, _ := strconv.Atoi(field)
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

func quantile(lag []time.Duration, share float64) time.Duration {
	if len(lag) == 0 {
		return 0
	}
	slices.Sort(lag)
	return lag[int(share*float64(len(lag)-1))].Round(time.Millisecond)
}

// A fleet in small: pushers and the server are killed, and packets dropped. Afterwards the tables are what the machines hold.
func TestASimulatedFleet(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	w := newTestEnv(t, "max_connections=200")
	tr := trial{machines: 60, processes: 6, length: 20 * time.Second, killServer: 1, killPushers: 5, cut: 3 * time.Second}
	r := w.run(t, tr)
	w.simulatedEqual(t, tr.machines, r.begin, tr.length)
}

// namespaceVar says that the test runs in a network of its own.
const namespaceVar = "CTXLS_FLEET_NAMESPACE"

// inNamespace reports whether the test runs in a network of its own already. If not it runs the test there.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv(namespaceVar) != "" {
		ip(t, "link", "set", "lo", "up")
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=30m")
	cmd.Env = append(os.Environ(), namespaceVar+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{12} // CAP_NET_ADMIN
	}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

// The claims of docs/fleet.md about speed and size: make fleet-bench.
func TestBench(t *testing.T) {
	if os.Getenv("CTXLS_FLEET_BENCH") == "" {
		t.Skip("make fleet-bench runs it")
	}
	number := func(name string, usual int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return usual
	}
	machines, seconds := number("MACHINES", 1000), number("SECONDS", 300)
	fmt.Printf("%d cores, %d machines with %d sessions each, a change of each session a second, %d s\n", runtime.NumCPU(), machines, perMachine, seconds)
	w := testEnv{teamtest.StartPostgres(t, fmt.Sprint("max_connections=", machines+50), "shared_buffers=1GB", "max_wal_size=4GB"), ""}
	w.database = w.Database(t)
	w.fleet(t, "owner", "migrate")
	w.Login(t, "alice", "ctxls_pusher")
	w.Login(t, "rita", "ctxls_reader")
	tr := trial{machines: machines, processes: 10, length: time.Duration(seconds) * time.Second}
	r := w.run(t, tr)
	w.simulatedEqual(t, machines, r.begin, tr.length)
	fmt.Printf("visible to a reader       p50 %v, p99 %v, last %v   (bar: p99 2s)\n", quantile(r.lag, .5), quantile(r.lag, .99), quantile(r.lag, 1))
	fmt.Printf("pushers together          %.2f cores   (bar: 1)\n", r.pushers)
	fmt.Printf("PostgreSQL                %.2f cores\n", r.server)
	size := func(table string) (rows, bytes float64) {
		got := w.Query(t, w.database, fmt.Sprintf(`SELECT (SELECT count(*) FROM ctxls.%[1]s), (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'ctxls.%[1]s'::regclass)`, table))
		fmt.Sscanf(strings.Replace(got[0], "|", " ", 1), "%f %f", &rows, &bytes)
		return rows, bytes
	}
	day := float64(machines*perMachine) * 86400
	for table, rate := range map[string]float64{"samples": day, "tasks": day / 10} {
		rows, bytes := size(table)
		fmt.Printf("%-8s on disk          %.0f rows, %.0f bytes a row: %.1f GB a day at this rate\n", table, rows, bytes/rows, bytes/rows*rate/1e9)
	}
}

// The same with all that goes wrong.
func TestBenchOfFailures(t *testing.T) {
	if os.Getenv("CTXLS_FLEET_BENCH") == "" {
		t.Skip("make fleet-bench runs it")
	}
	if !inNamespace(t) {
		return
	}
	machines, seconds := 1000, 300
	if n, err := strconv.Atoi(os.Getenv("MACHINES")); err == nil {
		machines = n
	}
	if n, err := strconv.Atoi(os.Getenv("SECONDS")); err == nil {
		seconds = n
	}
	w := newTestEnv(t, fmt.Sprint("max_connections=", machines+50), "shared_buffers=1GB")
	tr := trial{machines: machines, processes: 10, length: time.Duration(seconds) * time.Second, killServer: 5, killPushers: 50, cut: 30 * time.Second}
	r := w.run(t, tr)
	w.simulatedEqual(t, machines, r.begin, tr.length)
	fmt.Printf("after 5 deaths of PostgreSQL, 50 of pushers and 30 s of dropped packets every table equals what the machines hold\n")
}
