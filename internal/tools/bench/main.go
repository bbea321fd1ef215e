// Command bench runs the project's benchmarks and prints one table: each claim about speed and size, what it is measured
// against in the same run, and the bar that it must keep. It exits with 1 when a bar is missed.
//
//	go run ./internal/tools/bench [NAME…]
//
// With names, only rows whose text holds one of them are run. Underneath are ordinary Go benchmarks, for benchstat.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ctxls/ctxls/internal/tools/npm"
	"github.com/ctxls/ctxls/internal/tools/pip"
)

func main() {
	chosen := slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return len(os.Args) > 1 && !slices.ContainsFunc(os.Args[1:], func(name string) bool { return strings.Contains(r.what, name) })
	})
	if len(chosen) == 0 {
		fmt.Fprintln(os.Stderr, "bench: no such row; they are:")
		for _, r := range rows {
			fmt.Fprintln(os.Stderr, "  "+r.what)
		}
		os.Exit(2)
	}
	results, reasons, err := measure(chosen, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if misses := print(os.Stdout, chosen, results, reasons); misses > 0 {
		fmt.Fprintf(os.Stderr, "bench: %d of %d bars missed\n", misses, len(chosen))
		os.Exit(1)
	}
}

// measure runs the benchmarks that the rows need, package by package, and returns their figures by name and unit; and why others'
// programs were not measured, by name.
func measure(rows []row, progress io.Writer) (results map[string]float64, reasons map[string]string, err error) {
	results, reasons = map[string]float64{}, map[string]string{}
	needed := map[group][]string{}
	for _, r := range rows {
		needed[r.group] = append(needed[r.group], r.names()...)
	}
	for _, g := range groups {
		names := needed[g]
		if len(names) == 0 {
			continue
		}
		fmt.Fprintf(progress, "bench: %s …\n", g.pkg)
		env := append(os.Environ(), "CTXLS_BENCH_EDITORS=1")
		if g.npm != "" {
			modules, err := npm.Install("bench-rivals", g.npm)
			if err != nil {
				fmt.Fprintf(progress, "bench: rows against programs of the npm registry are left out: %v\n", err)
				leaveOut(rows, g, err, reasons)
			}
			env = append(env, "CTXLS_BENCH_RIVALS="+modules)
		}
		if g.pip != "" {
			packages, err := pip.Install("bench-counters", g.pip)
			if err != nil {
				fmt.Fprintf(progress, "bench: rows against programs of Python's registry are left out: %v\n", err)
				leaveOut(rows, g, err, reasons)
			}
			env = append(env, "CTXLS_BENCH_COUNTERS="+packages)
		}
		for _, names := range byDepth(names) {
			if err := runBenchmarks(g, names, env, results, reasons); err != nil {
				return nil, nil, err
			}
		}
	}
	return results, reasons, nil
}

// leaveOut notes why the programs of a group's rows could not be had.
func leaveOut(rows []row, g group, err error, reasons map[string]string) {
	for _, r := range rows {
		if r.group == g {
			reasons[r.rival], _, _ = strings.Cut(err.Error(), "\n")
		}
	}
}

// byDepth groups names by how many levels they have: go test reports a benchmark without parts only for a pattern
// without parts.
func byDepth(names []string) map[int][]string {
	groups := map[int][]string{}
	for _, name := range names {
		depth := strings.Count(name, "/")
		groups[depth] = append(groups[depth], name)
	}
	return groups
}

func runBenchmarks(g group, names, env []string, results map[string]float64, reasons map[string]string) error {
	for range g.count { // the whole set each time, so that a busy moment does not fall on all runs of one benchmark
		cmd := exec.Command("go", "test", "-run", "^$", "-bench", pattern(names), "-benchtime", g.benchtime, "-timeout", "30m", g.pkg)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %v\n%s", g.pkg, err, out)
		}
		parse(out, results, reasons)
	}
	return nil
}

// pattern makes the -bench argument that runs just these benchmarks: one expression a level of their names.
func pattern(names []string) string {
	var levels []map[string]bool
	for _, name := range names {
		for i, part := range strings.Split(name, "/") {
			if i == len(levels) {
				levels = append(levels, map[string]bool{})
			}
			if i == 0 {
				part = "Benchmark" + part
			}
			levels[i][regexp.QuoteMeta(part)] = true
		}
	}
	var parts []string
	for _, level := range levels {
		var alternatives []string
		for alternative := range level {
			alternatives = append(alternatives, alternative)
		}
		slices.Sort(alternatives)
		parts = append(parts, "^("+strings.Join(alternatives, "|")+")$")
	}
	return strings.Join(parts, "/")
}

var (
	resultLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
	reasonLine = regexp.MustCompile(`: left out: (\S+): (.*)$`)
)

// parse takes figures from the output of go test, the best of each: "BenchmarkName-2  100  12 ns/op  3 MB/s", and why there are none:
// "    file_test.go:9: left out: NAME: reason".
func parse(out []byte, results map[string]float64, reasons map[string]string) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if m := reasonLine.FindStringSubmatch(lines.Text()); m != nil {
			reasons[m[1]] = m[2]
		}
		m := resultLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		fields := strings.Fields(m[2])
		for i := 0; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				continue
			}
			name, best := m[1]+" "+fields[i+1], math.Min
			if strings.HasSuffix(fields[i+1], "/s") {
				best = math.Max
			}
			if known, ok := results[name]; ok {
				value = best(value, known)
			}
			results[name] = value
		}
	}
}

func print(w io.Writer, rows []row, results map[string]float64, reasons map[string]string) (misses int) {
	fmt.Fprintf(w, "%s/%s, %d cores, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "WHAT\tMEASURED\tAGAINST\tRESULT\tBAR\t")
	for _, r := range rows {
		value, against, result, verdict := r.judge(results, reasons)
		if verdict == missed {
			misses++
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", r.what, value, against, result, r.bar(), verdict)
	}
	tw.Flush()
	return misses
}
