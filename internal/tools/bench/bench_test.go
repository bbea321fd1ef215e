package main

import (
	"slices"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	timed := row{figure: "S ctxls-ms", against: "S other-ms", atMost: 1, unit: "ms", scale: 1, rival: "other", limit: 60_000}
	plain := row{figure: "P x-ms", atMost: 25, unit: "ms", scale: 1}
	for name, test := range map[string]struct {
		row     row
		results map[string]float64
		reasons map[string]string
		want    string // measured | against | result | verdict
	}{
		"kept":               {timed, map[string]float64{"S ctxls-ms": 12, "S other-ms": 24}, nil, "12.0 ms | 24.0 ms | 0.50 × | kept"},
		"far below":          {timed, map[string]float64{"S ctxls-ms": 12, "S other-ms": 3600}, nil, "12.0 ms | 3600 ms | 1/300 × | kept"},
		"it never ended":     {timed, map[string]float64{"S ctxls-ms": 12, "S other-ms": 60_000}, nil, "12.0 ms | > 60 s | < 1/5000 × | kept"},
		"missed":             {timed, map[string]float64{"S ctxls-ms": 240, "S other-ms": 20}, nil, "240 ms | 20.0 ms | 12 × | MISSED"},
		"it cannot be had":   {timed, map[string]float64{"S ctxls-ms": 12}, map[string]string{"other": "no npm"}, "12.0 ms |  | no npm | left out"},
		"none can be had":    {timed, nil, map[string]string{"other": "no npm"}, " |  | no npm | left out"},
		"nobody knows why":   {timed, map[string]float64{"S ctxls-ms": 12}, map[string]string{"third": "x"}, "12.0 ms | not measured |  | MISSED"},
		"ours":               {plain, map[string]float64{"P x-ms": 24}, nil, "24.0 ms |  |  | kept"},
		"ours, missed":       {plain, map[string]float64{"P x-ms": 26}, nil, "26.0 ms |  |  | MISSED"},
		"ours, not measured": {plain, nil, map[string]string{"": "x"}, "not measured |  |  | MISSED"},
	} {
		value, against, result, verdict := test.row.judge(test.results, test.reasons)
		if got := strings.Join([]string{value, against, result, verdict}, " | "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestParse(t *testing.T) {
	results, reasons := map[string]float64{}, map[string]string{}
	parse([]byte(`goos: linux
BenchmarkStatuslines-2   	       1	        17.2 ctxls-1MB-MiB	        13.2 ctxls-1MB-ms
--- BENCH: BenchmarkStatuslines-2
    rivals_bench_test.go:97: left out: ccusage: with 1MB: exit status 1: no program for this system
BenchmarkStatuslines-2   	       1	        19.2 ctxls-1MB-MiB	        11.1 ctxls-1MB-ms
PASS
`), results, reasons)
	if results["Statuslines ctxls-1MB-ms"] != 11.1 || results["Statuslines ctxls-1MB-MiB"] != 17.2 || reasons["ccusage"] != "with 1MB: exit status 1: no program for this system" {
		t.Errorf("%v\n%v", results, reasons)
	}
}

// Each row asks for benchmarks of a group that is run, and no two are called the same.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.what] {
			t.Errorf("%s is there twice", r.what)
		}
		seen[r.what] = true
		if !slices.Contains(groups, r.group) || len(r.names()) == 0 {
			t.Errorf("%s belongs to no group, or measures nothing", r.what)
		}
	}
}
