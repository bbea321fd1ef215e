package rpc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/rpc/rpctest"
)

// TestMain lets the test binary run as a server in its own process with real standard streams.
func TestMain(m *testing.M) {
	switch os.Getenv("RPC_TEST_PROCESS") {
	case "server":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		s, _ := probed(Options{})
		if err := s.ServeStdio(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "sleeper":
		io.Copy(io.Discard, os.Stdin)
	default:
		os.Exit(m.Run())
	}
}

// process is a server or a sleeper in its own process.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.ReadCloser
	exit chan error
}

func start(t *testing.T, what string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RPC_TEST_PROCESS="+what)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, in: in, out: out, exit: make(chan error, 1)}
	t.Cleanup(func() {
		cmd.Process.Kill()
		in.Close()
		out.Close()
	})
	return p
}

// wantExit waits for the process to end by itself, with status 0.
func (p *process) wantExit(t *testing.T) {
	t.Helper()
	go func() { p.exit <- p.cmd.Wait() }()
	select {
	case err := <-p.exit:
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
	case <-time.After(rpctest.Timeout):
		t.Fatal("the server does not end")
	}
}

// call sends one line and waits for the answer.
func (p *process) call(t *testing.T, out *bufio.Reader, line string) string {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestProcessEndsOnSIGTERM(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM to send")
	}
	p := start(t, "server")
	p.call(t, bufio.NewReader(p.out), `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.wantExit(t) // though its standard input stays open
}

func TestProcessSurvivesAVanishedReader(t *testing.T) {
	p := start(t, "server")
	p.call(t, bufio.NewReader(p.out), `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`)
	p.out.Close()
	io.WriteString(p.in, `{"jsonrpc":"2.0","id":2,"method":"test/echo"}`+"\n")
	p.wantExit(t)
}

func TestProcessEndsWithItsClient(t *testing.T) {
	client := start(t, "sleeper")
	p := start(t, "server")
	p.call(t, bufio.NewReader(p.out),
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":%d}}`, client.cmd.Process.Pid))
	client.in.Close()
	client.wantExit(t)
	p.wantExit(t)
}

// A client that sends 100,000 requests and reads nothing for 3 seconds costs the server little, and gets every reply.
func TestSlowClientCostsLittle(t *testing.T) {
	if underRace {
		t.Log("the race detector takes memory of its own: that all is answered is checked, the memory is not")
	}
	for _, test := range []struct {
		calls  int
		params string
	}{
		{100_000, `{"a":1}`},
		{10_000, `{"text":"` + strings.Repeat("a", 2_000) + `"}`},
		{100, `{"text":"` + strings.Repeat("a", 1_000_000) + `"}`},
	} {
		t.Run(fmt.Sprintf("%dB", len(test.params)), func(t *testing.T) {
			t.Parallel()
			p := start(t, "server")
			go func() {
				in := bufio.NewWriterSize(p.in, 64<<10)
				for i := range test.calls {
					fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"test/echo","params":%s}`+"\n", i, test.params)
				}
				in.Flush()
				p.in.Close()
			}()
			time.Sleep(3 * time.Second)
			asleep := peakMemory(t, p.cmd.Process.Pid)
			out := bufio.NewReaderSize(p.out, 2<<20)
			peak := asleep
			for i := range test.calls {
				line, err := out.ReadString('\n')
				if err != nil || !strings.Contains(line, `"result"`) {
					t.Fatalf("reply %d of %d: %q, %v", i, test.calls, line, err)
				}
				if i%(test.calls/100) == 0 {
					peak = max(peak, peakMemory(t, p.cmd.Process.Pid))
				}
			}
			p.wantExit(t)
			t.Logf("%d calls: peak memory %d MB while the client slept, %d MB in all", test.calls, asleep>>20, peak>>20)
			if peak > 100<<20 && !underRace {
				t.Errorf("peak memory %d MB, want at most 100", peak>>20)
			}
		})
	}
}

// peakMemory returns the largest resident size of a process so far, in bytes, or 0 if the system does not report it.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Log("peak memory is read from /proc, which only Linux has: not checked")
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0 // it has just ended
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	kB, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}
