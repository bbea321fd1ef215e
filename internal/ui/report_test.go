package ui

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
)

// fleet is the report of a few hundred tasks, the figures as the domain works them out.
func fleetReport() core.FleetReport {
	var tokens []int
	for i := range 412 {
		tokens = append(tokens, int(58_000*math.Exp(0.62*math.Sin(float64(i)*1.7)+0.45*math.Cos(float64(i)*0.37)+0.2*math.Sin(float64(i*i)))))
	}
	tokens = append(tokens, 0, 200_000, 200_001, 268_000)
	r := fleet.Fleet{Tokens: tokens, Since: noon.Add(-9 * 24 * time.Hour), Trim: fleet.TrimCount{Operations: 14, Tokens: 391_000}}.Report(settings.Default().Metrics)
	return core.FleetReport{ContextOptimizationReport: r, Sessions: 12, Compactions: 7, Histogram: fleet.Histogram(tokens), TaskTokens: tokens}
}

func TestReportScreens(t *testing.T) {
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			golden(t, "report-"+screen.name+".txt", drawn(t, screen.Style, func(l Style) string { return reportText(fleetReport(), noon, l) }))
		})
	}
}

// Of no tasks nothing is known but how many trims there were.
func TestReportOfNothing(t *testing.T) {
	r := core.FleetReport{ContextOptimizationReport: fleet.Fleet{}.Report(settings.Default().Metrics), Histogram: fleet.Histogram(nil)}
	golden(t, "report-empty.txt", drawn(t, Style{}, func(l Style) string { return reportText(r, noon, l) }))
}

func TestReportCSV(t *testing.T) {
	var b strings.Builder
	if err := ReportCSV(&b, core.FleetReport{ContextOptimizationReport: fleet.ContextOptimizationReport{ThresholdTokens: 200}, TaskTokens: []int{7, 200, 201}}); err != nil {
		t.Fatal(err)
	}
	if want := "task,tokens,thresholdTokens,exceeds\n1,7,200,false\n2,200,200,false\n3,201,200,true\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

// page makes the page of one session.
func page(t interface{ Fatal(...any) }, s core.SessionDetail) string {
	var b bytes.Buffer
	if err := Page(&b, fleetReport(), []PageSession{{SessionDetail: s, Samples: curve()}}, noon); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page may ask for nothing, and run and look like nothing but what is in it.
func TestPageIsClosed(t *testing.T) {
	html := page(t, filled())
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(html)
	if policy == nil {
		t.Fatal("no policy")
	}
	want := "default-src 'none'; style-src " + hashOf(between(html, "<style>", "</style>")) + "; script-src " + hashOf(between(html, "<script>", "</script>")) + "; base-uri 'none'; form-action 'none'"
	if policy[1] != want {
		t.Errorf("the policy is %q, want %q", policy[1], want)
	}
	if outside := regexp.MustCompile(`https?://[^\s"']*`).FindAllString(strings.ReplaceAll(html, "http://www.w3.org/2000/svg", ""), -1); outside != nil {
		t.Errorf("it names %q", outside)
	}
	if unsafe := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|\{\{`).FindString(html); unsafe != "" {
		t.Errorf("it uses %s", unsafe)
	}
}

func between(s, from, to string) string {
	_, rest, _ := strings.Cut(s, from)
	inside, _, _ := strings.Cut(rest, to)
	return inside
}

// Whatever things are called, the page's markup is the same, and its data says what was put in.
func FuzzPage(f *testing.F) {
	for _, name := range []string{"", "</script><script>alert(1)</script>", "<!--", "\u2028", "\x1b[2J", "{{csp}}", "\xff", "\x80\xa8", `"&'`} {
		f.Add(name)
	}
	markup := func(html string) string {
		data := between(html, `<script type="application/json" id="data">`, "</script>")
		return strings.Replace(html, data, "", 1)
	}
	usual := markup(page(f, filled()))
	f.Fuzz(func(t *testing.T, name string) {
		s := filled()
		s.Title, s.CWD, s.SessionID, s.Model, s.Usage.WindowWhy = name, "/"+name, name, name, name
		s.WorkingSet, s.Breakdown.Parts[9].Tool, s.Breakdown.Files[0].Path, s.Agents[0].AgentType = []string{name}, name, name, name
		html := page(t, s)
		data := between(html, `<script type="application/json" id="data">`, "</script>")
		if strings.ContainsAny(data, "<>&\u2028\u2029") {
			t.Errorf("the data of %q could end its place in the page", name)
		}
		if markup(html) != usual {
			t.Errorf("%q changed the markup", name)
		}
		var read struct {
			Sessions []struct{ Detail struct{ Title string } }
		}
		if err := json.Unmarshal([]byte(data), &read); err != nil || read.Sessions[0].Detail.Title != text.Sanitize(string([]rune(name)), 0) { // JSON replaces each byte that is not UTF-8
			t.Errorf("%q became %q (%v)", name, read.Sessions, err)
		}
	})
}

// A long history keeps its ends, its highest and its lowest point.
func TestThin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 3000).Draw(rt, "samples")
		most := rapid.IntRange(10, 600).Draw(rt, "most")
		seed := rapid.IntRange(1, 9999).Draw(rt, "seed")
		var samples []session.Sample
		low, high := math.MaxInt, 0
		for i := range n {
			s := session.Sample{At: noon.Add(time.Duration(i) * time.Second), Tokens: (i*seed*7919 + i*i*31) % 200_000}
			if i == n*seed/10_000 {
				s.Kind = session.SampleCompaction
			}
			samples, low, high = append(samples, s), min(low, s.Tokens), max(high, s.Tokens)
		}
		thinned := thin(samples, most)
		if len(thinned) > max(most, 2) || n > 0 && (thinned[0] != samples[0] || thinned[len(thinned)-1] != samples[n-1]) {
			rt.Fatalf("%d of %d, at most %d", len(thinned), n, most)
		}
		if n > 0 && !slices.ContainsFunc(thinned, func(s session.Sample) bool { return s.Kind == session.SampleCompaction }) {
			rt.Fatal("the compaction is lost")
		}
		lowest, highest := math.MaxInt, 0
		for i, s := range thinned {
			lowest, highest = min(lowest, s.Tokens), max(highest, s.Tokens)
			if i > 0 && !s.At.After(thinned[i-1].At) {
				rt.Fatalf("%v after %v", s, thinned[i-1])
			}
		}
		if lowest != low || highest != high {
			rt.Fatalf("from %d to %d, want %d to %d", lowest, highest, low, high)
		}
	})
}
