//go:build linux && fleet

package fleet

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/team/teamtest"
)

const deploy = "../../deploy/fleet/"

// The rules fire when they should and only then, and what is shipped beside them is read by the programs that it is for.
func TestRules(t *testing.T) {
	for _, args := range [][]string{{"test", "rules", "ctxls.rules.test.yml"}, {"check", "config", "prometheus.yml"}} {
		cmd := exec.Command("promtool", args...)
		cmd.Dir = deploy
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// Each query of the dashboard is one that Prometheus takes, about metrics that there are.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(deploy, "grafana/ctxls.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil || len(dashboard.Panels) < 8 {
		t.Fatalf("%d panels, %v", len(dashboard.Panels), err)
	}
	m := teamtest.NewMachine(t, "")
	listen := fmt.Sprintf("127.0.0.1:%d", teamtest.FreePort(t))
	cmd := exec.Command(filepath.Join(bin, "ctxls-fleet"), "metrics", "--listen="+listen, "--team=blue", state(m))
	cmd.Env = []string{"HOME=/nonexistent"}
	teamtest.Serve(t, cmd, "http://"+listen+"/metrics")
	for _, tokens := range []int{100_000, 150_000, 10_000} {
		m.Grow(t, "one", tokens)
	}
	prometheus := teamtest.StartPrometheus(t, map[string]string{"machines": listen})
	names := func() (names []string) {
		response, err := http.Get(prometheus + "/api/v1/label/__name__/values")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var answer struct{ Data []string }
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return answer.Data
	}
	until(t, "a scrape", func() bool { return slices.Contains(names(), "ctxls_compactions_total") })
	known := append(names(), "ctxls:task_exceedance:rate1h") // of the rules
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			expression := strings.ReplaceAll(target.Expr, "$team", ".*")
			response, err := http.Get(prometheus + "/api/v1/query?query=" + url.QueryEscape(expression))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != 200 {
				t.Errorf("%s: Prometheus does not take %s", p.Title, expression)
			}
			if !slices.ContainsFunc(known, func(name string) bool { return strings.Contains(expression, name+"{") }) {
				t.Errorf("%s: no such metric: %s", p.Title, expression)
			}
		}
	}
}
