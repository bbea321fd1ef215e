//go:build linux && e2e

package opencode

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/test/e2e"
)

// steps is a turn of several steps, each with a tool, in whose second something happens.
func steps(second func()) []e2e.Reply {
	return []e2e.Reply{
		{Tokens: 50_000, Calls: []e2e.Call{read("notes.txt")}},
		{Tokens: 51_000, Calls: []e2e.Call{read("src/main.go")}, Before: second},
		{Tokens: 52_000, Calls: []e2e.Call{read("src/util.go"), read("notes.txt")}},
		{Tokens: 53_000, Calls: []e2e.Call{read("src/main.go")}},
		{Tokens: 54_000, Text: "Done."},
	}
}

// left returns the processes of ctxls that run in the sandbox.
func (w *testEnv) left() (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		exe, _ := os.Readlink(filepath.Join(dir, "exe"))
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if exe == e2e.CTXLSBin() && bytes.Contains(env, []byte("HOME="+w.Home+"\x00")) && lives(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (w *testEnv) wantNoneLeft(when string) {
	w.T.Helper()
	for deadline := time.Now().Add(5 * time.Second); len(w.left()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.T.Errorf("%s: processes left: %v", when, w.left())
			for _, pid := range w.left() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return
		}
	}
}

// results returns the results of tools in the last request of a kind, as the model saw them.
func results(r e2e.Request) (results []string) {
	messages, _ := r.Body["messages"].([]any)
	for _, m := range messages {
		content, _ := m.(map[string]any)["content"].([]any)
		for _, block := range content {
			if b := block.(map[string]any); b["type"] == "tool_result" {
				results = append(results, strings.Join(e2e.TextsOf(b), "\n"))
			}
		}
	}
	return results
}

// ctxls is killed, and then stopped, within a turn. The turn continues normally. If the server hangs, the turn takes at
// most a second longer. The server restarts, and learns the events of the meantime. A killed host leaves no process, not
// even a stopped server.
func TestServerKilledAndHung(t *testing.T) {
	t.Parallel()
	var w *testEnv
	stopped := 0
	signal := func(s syscall.Signal) func() {
		return func() {
			if pids := w.servers(); len(pids) == 1 {
				_ = syscall.Kill(pids[0], s)
				stopped = pids[0]
			}
		}
	}
	w = newTestEnv(t, scripts{"well": steps(nil), "killed": steps(signal(syscall.SIGKILL)), "hung": steps(signal(syscall.SIGSTOP))})
	w.Env = append(w.Env, "CTXLS_WAIT=300")
	w.install()
	w.serve()
	session := w.session("faults")
	turn := func(kind string) time.Duration {
		start := time.Now()
		if answer := w.prompt(session, "[["+kind+"]] go"); !strings.HasSuffix(answer, "Done.") {
			t.Errorf("%s: the answer is %q", kind, answer)
		}
		return time.Since(start)
	}
	last := func(kind string) []string {
		of := w.model.Asked(kind)
		got := results(of[len(of)-1])
		return got[len(got)-5:]
	}
	back := func(kind string) {
		t.Helper()
		if stopped == 0 {
			t.Fatalf("no server was there for %s", kind)
		}
		w.eventually("the server is back after "+kind, func() bool {
			pids := w.servers()
			return len(pids) == 1 && pids[0] != stopped
		})
		w.wantTokens(session, 54_000+e2e.OutputTokens)
		stopped = 0
	}
	turn("well")
	want := last("well")

	turn("killed")
	if diff := cmp.Diff(want, last("killed")); diff != "" {
		t.Errorf("killed: the results of the tools (-want +got):\n%s", diff)
	}
	back("being killed")

	// A second is what people would feel. On a machine with other work turns differ by more than that among themselves; then only what
	// goes beyond their own spread says anything. How long each hook waits is tested with the plugin, without a host.
	var well, hung []time.Duration
	for range 3 {
		well = append(well, turn("well"))
		w.wantTokens(session, 54_000+e2e.OutputTokens)
		hung = append(hung, turn("hung"))
		if diff := cmp.Diff(want, last("hung")); diff != "" {
			t.Errorf("hung: the results of the tools (-want +got):\n%s", diff)
		}
		back("hanging")
	}
	t.Logf("turns: %v; with ctxls hung %v", well, hung)
	spread := slices.Max(well) - slices.Min(well)
	if longer := slices.Min(hung) - slices.Min(well); longer > time.Second+spread {
		t.Errorf("with ctxls hung a turn takes %v longer, where turns without differ by %v", longer, spread)
	}

	pid := w.server()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.stop(syscall.SIGKILL)
	w.wantNoneLeft("the host killed while the server was stopped")
}

// A session is deleted within a turn. The host continues the turn for a while, and none of its data returns to the
// store.
func TestDeletedInATurn(t *testing.T) {
	t.Parallel()
	var w *testEnv
	var session string
	deleted := 0
	w = newTestEnv(t, scripts{"well": steps(nil), "cut": steps(func() {
		request, _ := http.NewRequest("DELETE", w.url+"/session/"+session, nil)
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			if deleted == 0 { // a host that has lost what it was doing asks for this step again
				deleted = response.StatusCode
			}
		}
	})})
	w.install()
	w.serve()
	session = w.session("a telling title")
	// What the host answers to a prompt whose session is gone is its own affair.
	body := strings.NewReader(`{"parts": [{"type": "text", "text": "[[cut]] go"}]}`)
	if response, err := http.Post(w.url+"/session/"+session+"/message", "application/json", body); err == nil {
		response.Body.Close()
	}
	if deleted != http.StatusOK {
		t.Fatalf("the host answered the deletion with %d", deleted)
	}
	other := w.session("another")
	w.prompt(other, "[[well]] go") // by the end of this whatever came late of the first has come
	w.wantTokens(other, 54_000+e2e.OutputTokens)
	if s := w.Sessions(); len(s) != 1 {
		t.Errorf("%d sessions, want the other only: %+v", len(s), s)
	}
	w.wantForgotten("a telling title")
}

// After any end of the host, no process of ctxls remains: after a normal end, with a server that hangs, and after
// SIGTERM.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	var w *testEnv
	stop := func() {
		for _, pid := range w.left() {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
	}
	seen := 0
	w = newTestEnv(t, scripts{
		"well": {{Tokens: 50_000, Calls: []e2e.Call{read("notes.txt")}}, {Tokens: 51_000, Text: "Done.", Before: func() { seen = len(w.left()) }}},
		"hung": {{Tokens: 50_000, Calls: []e2e.Call{read("notes.txt")}}, {Tokens: 51_000, Text: "Done.", Before: stop}},
	})
	w.install()
	run := func(kind string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		out, err := w.Command(ctx, e2e.HostBin(), "run", "[["+kind+"]] go").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Done.") {
			t.Errorf("%s: %v\n%s", kind, err, out)
		}
		w.wantNoneLeft("a normal end, " + kind)
	}
	run("well")
	if seen != 1 {
		t.Errorf("while it ran there were %d servers", seen)
	}
	var ended []int
	for _, s := range w.Sessions() {
		ended = append(ended, *s.Usage.Tokens)
	}
	if diff := cmp.Diff([]int{51_000 + e2e.OutputTokens}, ended); diff != "" {
		t.Errorf("what is known at the end (-want +got):\n%s", diff)
	}
	run("hung")
	w.serve()
	w.prompt(w.session("s"), "[[well]] go")
	w.server()
	w.stop(syscall.SIGTERM)
	w.wantNoneLeft("SIGTERM")
}

// A session whose provider is not Anthropic gets no reminder, until settings ask for it.
func TestOtherProvider(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, scripts{"work": work()})
	w.configure("gateway", "@ai-sdk/openai-compatible", newOpenAI(t, w).URL+"/v1", "")
	w.install()
	w.serve()
	turn := func() (session string, said string) {
		session = w.session("one")
		w.prompt(session, "[[work]] please look around")
		of := w.model.Asked("work")
		return session, strings.Join(ours.FindAllString(fmt.Sprint(of[len(of)-1].Body), -1), "\n")
	}
	session, text := turn()
	w.wantTokens(session, 143_000+e2e.OutputTokens)
	if s, _ := w.Session(session); s.Provider != "gateway" {
		t.Errorf("the provider is %q", s.Provider)
	}
	if text != "" {
		t.Errorf("said to a model of another provider: %q", text)
	}
	w.Write(filepath.Join(w.Home, ".config", "ctxls", "config.json"), `{"reminder": {"anthropicOnly": false}}`)
	if _, text = turn(); strings.Count(text, "Context Status") != 1 {
		t.Errorf("with anthropicOnly off: %q", text)
	}
}
