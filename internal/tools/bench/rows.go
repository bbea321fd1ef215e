package main

import (
	"fmt"
	"math"
	"strings"
)

// group is a package whose benchmarks are run together, count times; of several runs the best one stands, since what else a
// machine does can only slow a run down.
type group struct {
	pkg, benchtime string
	count          int
}

var (
	tokens = group{"./internal/core/token", "300ms", 4}
	domain = group{"./internal/core", "1s", 1}
	server = group{"./internal/rpc", "1s", 1}
	state  = group{"./internal/store/sqlite", "1s", 1}
	whole  = group{"./test", "100x", 1}
	piped  = group{"./test", "10x", 1}
	live   = group{"./test", "1x", 1}
	groups = []group{tokens, domain, server, state, whole, piped, live}
)

// row is one claim. figure and against are a benchmark's name and a unit; the result is the figure itself, or with against
// the ratio of the two.
type row struct {
	what            string
	group           group
	figure, against string
	atLeast, atMost float64 // the bar; 0 is none
	unit            string  // of the figure as shown; scale turns the benchmark's into it
	scale           float64
}

const (
	nsToMs = 1e-6
	nsToUs = 1e-3
)

var rows = append(counting(), []row{
	{what: "encoder ready", group: tokens, figure: "Ready ns/op", atMost: 1, unit: "ms", scale: nsToMs},
	{what: "one letter, 1 MB", group: tokens, figure: "Count/text=one-letter/encoding=o200k_base/by=ctxls ns/op", atMost: 50, unit: "ms", scale: nsToMs},
	{what: "measure 200k tokens over stdio, first", group: piped, figure: "MeasureOverStdio first-ms", atMost: 25, unit: "ms", scale: 1},
	{what: "measure 200k tokens over stdio, one new message", group: piped, figure: "MeasureOverStdio one-new-ms", atMost: 10, unit: "ms", scale: 1},
	{what: "trim 100,000 messages, against 10,000", group: domain, figure: "Trim/100000/oldest ns/op", against: "Trim/10000/oldest ns/op", atMost: 15, unit: "ms", scale: nsToMs},
	{what: "trim 100,000 messages' results, against 10,000", group: domain, figure: "Trim/100000/toolResults ns/op", against: "Trim/10000/toolResults ns/op", atMost: 15, unit: "ms", scale: nsToMs},
	{what: "a call of 100 bytes, through the server", group: server, figure: "Call/stream/100B/server ns/op", atMost: 20, unit: "µs", scale: nsToUs},
	{what: "8 processes, full updates to one-row ones", group: state, figure: "Processes ratio", atLeast: 0.25, unit: "×", scale: 1},
	{what: "hook, whole process", group: whole, figure: "Process hook-ms", against: "Process baseline-ms", atMost: 1.5, unit: "ms", scale: 1},
	{what: "statusline, whole process", group: whole, figure: "Process statusline-ms", against: "Process baseline-ms", atMost: 1.5, unit: "ms", scale: 1},
	{what: "hook, 1 GB transcript against 1 MB", group: whole, figure: "Process hook-1GB-ms", against: "Process hook-ms", atMost: 1.2, unit: "ms", scale: 1},
	{what: "hook, most memory", group: whole, figure: "Process hook-1GB-MiB", atMost: 25, unit: "MiB", scale: 1},
	{what: "hook's exit to notification, 99th percentile", group: live, figure: "Push p99-ms", atMost: 100, unit: "ms", scale: 1},
	{what: "server at rest, of a core", group: live, figure: "Rest percent", atMost: 0.1, unit: "%", scale: 1},
	{what: "watching without file events at rest, of a core", group: state, figure: "RestWithoutEvents percent", atMost: 0.1, unit: "%", scale: 1},
	{what: "server at rest, memory", group: live, figure: "Rest MiB", atMost: 30, unit: "MiB", scale: 1},
}...)

// counting returns two rows a kind of text and encoding, one for each library to compare with. The bar is for code and prose
// against tiktoken-go; the others are there to be seen.
func counting() []row {
	var rows []row
	for _, text := range []string{"code", "prose", "cjk", "json", "base64", "minified", "random-bytes", "random-letters", "one-letter", "spaces", "marks", "emoji"} {
		for _, encoding := range []string{"cl100k_base", "o200k_base"} {
			name := fmt.Sprintf("Count/text=%s/encoding=%s/by=", text, encoding)
			for _, library := range []string{"tiktoken-go", "tokenizer"} {
				r := row{what: fmt.Sprintf("counting %s, %s, against %s", text, strings.TrimSuffix(encoding, "_base"), library), group: tokens,
					figure: name + "ctxls MB/s", against: name + library + " MB/s", unit: "MB/s", scale: 1}
				if library == "tiktoken-go" && (text == "code" || text == "prose") {
					r.atLeast = 30
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// names returns the benchmarks that the row needs.
func (r row) names() []string {
	var names []string
	for _, figure := range []string{r.figure, r.against} {
		if name, _, ok := strings.Cut(figure, " "); ok {
			names = append(names, name)
		}
	}
	return names
}

// judge returns the row's cells, and whether the bar is kept. A figure that was not measured keeps none.
func (r row) judge(results map[string]float64) (value, against, result string, kept bool) {
	figure, measured := results[r.figure]
	if !measured {
		return "not measured", "", "", false
	}
	value, judged := r.show(figure), figure*r.scale
	if r.against != "" {
		base, measured := results[r.against]
		if !measured || base == 0 {
			return value, "not measured", "", false
		}
		judged = figure / base
		against, result = r.show(base), fmt.Sprintf("%.2f ×", judged)
		if judged >= 10 {
			result = fmt.Sprintf("%.0f ×", judged)
		}
	}
	return value, against, result, (r.atLeast == 0 || judged >= r.atLeast) && (r.atMost == 0 || judged <= r.atMost)
}

func (r row) show(figure float64) string {
	v := figure * r.scale
	digits := 2
	if v != 0 {
		digits = max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	return fmt.Sprintf("%.*f %s", min(digits, 6), v, r.unit)
}

func (r row) bar() string {
	unit := " " + r.unit
	if r.against != "" {
		unit = " ×"
	}
	switch {
	case r.atLeast > 0:
		return fmt.Sprintf("≥ %g%s", r.atLeast, unit)
	case r.atMost > 0:
		return fmt.Sprintf("≤ %g%s", r.atMost, unit)
	}
	return ""
}
