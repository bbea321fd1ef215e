//go:build linux && fleet

package fleet

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/team/teamtest"
)

// query asks Prometheus, and returns the value of each series by two of its labels.
func query(t *testing.T, prometheus, expression string) map[string]string {
	t.Helper()
	response, err := http.Get(prometheus + "/api/v1/query?query=" + url.QueryEscape(expression))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, r := range answer.Data.Result {
		values[r.Metric["gen_ai_request_model"]+r.Metric["le"]] = fmt.Sprint(r.Value[1])
	}
	return values
}

// What Prometheus holds, scraped from ctxls-fleet and by way of a collector, is what ctxls shows at the same moment.
func TestGaugesAreWhatSessionsShow(t *testing.T) {
	m := teamtest.NewMachine(t, "")
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "ctxls-fleet"), append(args, "--team=blue", state(m))...)
		cmd.Env = []string{"HOME=/nonexistent"}
		return cmd
	}
	grow := func(model, id string, tokens int) {
		m.Model = model
		m.Grow(t, id, tokens)
	}
	grow("claude-sonnet-4-6", "one", 50_000)
	grow("claude-sonnet-4-6", "two", 120_345) // the fullest
	grow("claude-opus-4-6", "three", 77_777)
	collector, otlp, held := teamtest.StartCollector(t)
	listen := fmt.Sprintf("127.0.0.1:%d", teamtest.FreePort(t))
	teamtest.Serve(t, command("metrics", "--listen="+listen), "http://"+listen+"/metrics")
	prometheus := teamtest.StartPrometheus(t, map[string]string{"scraped": listen, "collected": held})
	output(t, command("push", "--otlp="+otlp)) // counts from here on
	grow("claude-sonnet-4-6", "two", 200_000)
	grow("claude-sonnet-4-6", "two", 200_001)
	grow("claude-sonnet-4-6", "two", 90_000) // a compaction
	grow("claude-opus-4-6", "three", 100_000)
	output(t, command("push", "--otlp="+otlp))

	want := map[string]core.Usage{}
	for _, v := range ctxls[[]core.SessionView](t, m, "sessions") {
		if before, seen := want[v.Model]; !seen || *v.Usage.Percent > *before.Percent {
			want[v.Model] = v.Usage
		}
	}
	if len(want) != 2 {
		t.Fatalf("%d models", len(want))
	}
	for _, job := range []string{"scraped", "collected"} {
		// A series of the collector keeps the job of its resource.
		of := map[string]string{"scraped": `{job="scraped"}`, "collected": `{job="ctxls-fleet"}`}[job]
		until(t, job+" figures", func() bool { return query(t, prometheus, "ctxls_context_tokens"+of)["claude-opus-4-6"] == "100000" })
		for model, u := range want {
			for name, value := range map[string]string{
				"gen_ai_context_utilization_ratio":   fmt.Sprint(float64(*u.Tokens) / float64(u.WindowTokens)),
				"gen_ai_context_window_size":         fmt.Sprint(u.WindowTokens),
				"ctxls_context_tokens":               fmt.Sprint(*u.Tokens),
				"ctxls_context_tokens_to_compaction": fmt.Sprint(*u.ToCompaction),
			} {
				if got := query(t, prometheus, name+of)[model]; got != value {
					t.Errorf("%s: %s of %s is %q, want %s", job, name, model, got, value)
				}
			}
		}
		if got := query(t, prometheus, "ctxls_compactions_total"+of)["claude-sonnet-4-6"]; got != "1" {
			t.Errorf("%s: %q compactions", job, got)
		}
		for bound, tasks := range map[string]string{"100000": "1", "200000": "2", "+Inf": "3"} {
			got := query(t, prometheus, "ctxls_task_tokens_bucket"+of)
			if got["claude-sonnet-4-6"+bound] != tasks && got["claude-sonnet-4-6"+bound+".0"] != tasks {
				t.Errorf("%s: tasks up to %s: %v", job, bound, got)
			}
		}
		if got := query(t, prometheus, `count({gen_ai_request_model!="",ctxls_team="blue",`+of[1:]+")"); got[""] != "19" { // ten each, but that one of them was never compacted
			t.Errorf("%s: two agents make %s series", job, got[""])
		}
	}
	if !regexp.MustCompile(`Exemplars:(?s:.){1,200}ctxls.session: Str\([0-9a-f]{16}\)|FilteredAttributes:(?s:.){1,80}ctxls.session`).MatchString(collector.Output()) {
		t.Error("no exemplar names a session")
	}
}

func TestOnlyLoopbackWithoutAToken(t *testing.T) {
	m := teamtest.NewMachine(t, "")
	for args, want := range map[string]string{"--listen=0.0.0.0:0": "--remote allows that", "--listen=:0": "--remote allows that", "--listen=0.0.0.0:0 --remote": "needs a token"} {
		cmd := exec.Command(filepath.Join(bin, "ctxls-fleet"), append(strings.Fields("metrics "+args), state(m))...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
	port := teamtest.FreePort(t)
	cmd := exec.Command(filepath.Join(bin, "ctxls-fleet"), "metrics", fmt.Sprintf("--listen=127.0.0.1:%d", port), state(m))
	cmd.Env = []string{"HOME=/nonexistent", "CTXLS_FLEET_TOKEN=open sesame"}
	page := fmt.Sprintf("http://127.0.0.1:%d/metrics", port)
	teamtest.Serve(t, cmd, page)
	for token, want := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer open sesame": 200} {
		request, _ := http.NewRequest("GET", page, nil)
		request.Header.Set("Authorization", token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("with %q: %d, want %d", token, response.StatusCode, want)
		}
	}
}
