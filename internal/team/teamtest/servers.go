//go:build linux && fleet

package teamtest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Server is a program that runs until the test ends.
type Server struct {
	mu  sync.Mutex
	out bytes.Buffer
	cmd *exec.Cmd
}

// Write implements io.Writer: it keeps what the program prints.
func (s *Server) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(text)
}

// Output returns what the program has printed so far.
func (s *Server) Output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// PID returns the program's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Serve starts a program and waits until a page of it can be read; "" waits for nothing.
func Serve(t testing.TB, cmd *exec.Cmd, page string) *Server {
	t.Helper()
	s := &Server{cmd: cmd}
	cmd.Stdout, cmd.Stderr = s, s
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		stopped := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		stopped.Stop()
		if t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(cmd.Path), s.Output())
		}
	})
	for deadline := time.Now().Add(60 * time.Second); page != ""; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get(page)
		if err == nil {
			response.Body.Close()
			if response.StatusCode < 500 {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer: %v\n%s", cmd.Path, err, s.Output())
		}
	}
	return s
}

// StartCollector starts an OpenTelemetry collector. It takes OTLP by HTTP at the first URL, and shows what it holds to Prometheus at the second
// address; it prints all that it takes.
func StartCollector(t testing.TB) (server *Server, otlp, scrape string) {
	t.Helper()
	bin := os.Getenv("CTXLS_OTELCOL")
	if bin == "" {
		t.Fatal("these tests need a collector at $CTXLS_OTELCOL: 'make fleet-test' builds it, as does 'sh internal/tools/tool.sh otelcol'")
	}
	in, out := FreePort(t), FreePort(t)
	file := filepath.Join(t.TempDir(), "otelcol.yaml")
	text := fmt.Sprintf(`
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:%d"}}}}
exporters: {debug: {verbosity: detailed}, prometheus: {endpoint: "127.0.0.1:%d", enable_open_metrics: true}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {metrics: {receivers: [otlp], exporters: [debug, prometheus]}}
`, in, out)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	otlp, scrape = fmt.Sprintf("http://127.0.0.1:%d", in), fmt.Sprintf("127.0.0.1:%d", out)
	return Serve(t, exec.Command(bin, "--config", file), otlp+"/"), otlp, scrape
}

// StartPrometheus starts a Prometheus that scrapes targets, by the names of their jobs, each second. It returns its URL.
func StartPrometheus(t testing.TB, targets map[string]string) string {
	t.Helper()
	dir, port := t.TempDir(), FreePort(t)
	text := "global: {scrape_interval: 1s}\nscrape_configs:\n"
	for job, target := range targets {
		text += fmt.Sprintf("  - {job_name: %s, honor_labels: true, static_configs: [{targets: [%q]}]}\n", job, target)
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("127.0.0.1:%d", port)
	Serve(t, exec.Command("prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+at, "--log.level=warn"), "http://"+at+"/-/ready")
	return "http://" + at
}
