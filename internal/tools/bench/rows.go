package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// group is a package whose benchmarks are run together, count times; of several runs the best one stands, since what else a
// machine does can only slow a run down. npm is the directory that says which programs of the npm registry they need, where they do;
// pip is the requirements file that says which ones of Python's.
type group struct {
	pkg, benchtime string
	count          int
	npm, pip       string
}

var (
	tokens = group{pkg: "./internal/core/token", benchtime: "300ms", count: 4}
	beside = group{pkg: "./internal/core/token", benchtime: "1x", count: 1, pip: "internal/tools/bench/counters/requirements.txt"}
	domain = group{pkg: "./internal/core/conversation", benchtime: "1s", count: 1}
	server = group{pkg: "./internal/rpc", benchtime: "1s", count: 1}
	crowd  = group{pkg: "./internal/store/sqlite", benchtime: "1s", count: 3}
	state  = group{pkg: "./internal/store/sqlite", benchtime: "1s", count: 1}
	whole  = group{pkg: "./test", benchtime: "100x", count: 1}
	piped  = group{pkg: "./test", benchtime: "10x", count: 1}
	live   = group{pkg: "./test", benchtime: "1x", count: 1}
	rivals = group{pkg: "./test", benchtime: "1x", count: 1, npm: "internal/tools/bench/rivals"}
	window = group{pkg: "./test", benchtime: "1x", count: 1} // editors: a group of its own, since they take minutes
	groups = []group{tokens, beside, domain, server, crowd, state, whole, piped, live, rivals, window}
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
	rival           string  // the program that is measured against, where it is not ours: without it the row is left out
	limit           float64 // of the figure: what was not over by then was not waited for; 0 is none
}

const (
	nsToMs = 1e-6
	nsToUs = 1e-3
)

var rows = slices.Concat(counting(), countingBeside(), []row{
	{what: "counting random texts, the slowest of 200", group: beside, figure: "Worst worst-MB/s", atLeast: 5, unit: "MB/s", scale: 1},
	{what: "encoder ready", group: tokens, figure: "Ready ns/op", atMost: 1, unit: "ms", scale: nsToMs},
	{what: "one letter, 1 MB", group: tokens, figure: "Count/text=one-letter/encoding=o200k_base/by=ctxls ns/op", atMost: 50, unit: "ms", scale: nsToMs},
	{what: "measure 200k tokens over stdio, first", group: piped, figure: "MeasureOverStdio first-ms", atMost: 12, unit: "ms", scale: 1},
	{what: "measure 200k tokens over stdio, one new message", group: piped, figure: "MeasureOverStdio one-new-ms", atMost: 4, unit: "ms", scale: 1},
	{what: "trim 100,000 messages, against 10,000", group: domain, figure: "Trim/100000/oldest ns/op", against: "Trim/10000/oldest ns/op", atMost: 15, unit: "ms", scale: nsToMs},
	{what: "trim 100,000 messages' results, against 10,000", group: domain, figure: "Trim/100000/toolResults ns/op", against: "Trim/10000/toolResults ns/op", atMost: 15, unit: "ms", scale: nsToMs},
	{what: "plan of a 200k-token session, first", group: domain, figure: "Plan200k/first ns/op", atMost: 30, unit: "ms", scale: nsToMs},
	{what: "plan of a 200k-token session, again", group: domain, figure: "Plan200k/again ns/op", atMost: 30, unit: "ms", scale: nsToMs},
	{what: "plan of 100,000 messages, against 10,000", group: domain, figure: "PlanMessages/100000 ns/op", against: "PlanMessages/10000 ns/op", atMost: 15, unit: "ms", scale: nsToMs},
	{what: "a call of 100 bytes, through the server", group: server, figure: "Call/stream/100B/server ns/op", atMost: 20, unit: "µs", scale: nsToUs},
	{what: "8 processes, full updates against one-row ones", group: crowd, figure: "Processes updates/s", against: "Processes rows/s", atLeast: 0.25, unit: "/s", scale: 1},
	{what: "hook, whole process", group: whole, figure: "Process hook-ms", against: "Process baseline-ms", atMost: 1.5, unit: "ms", scale: 1},
	{what: "statusline, whole process", group: whole, figure: "Process statusline-ms", against: "Process baseline-ms", atMost: 1.5, unit: "ms", scale: 1},
	{what: "hook, 1 GB transcript against 1 MB", group: whole, figure: "Process hook-1GB-ms", against: "Process hook-ms", atMost: 1.2, unit: "ms", scale: 1},
	{what: "hook, most memory", group: whole, figure: "Process hook-1GB-MiB", atMost: 25, unit: "MiB", scale: 1},
	{what: "hook's exit to notification, 99th percentile", group: live, figure: "Push p99-ms", atMost: 100, unit: "ms", scale: 1},
	{what: "server at rest, of a core", group: live, figure: "Rest percent", atMost: 0.1, unit: "%", scale: 1},
	{what: "watching without file events at rest, of a core", group: state, figure: "RestWithoutEvents percent", atMost: 0.1, unit: "%", scale: 1},
	{what: "server at rest, memory", group: live, figure: "Rest MiB", atMost: 30, unit: "MiB", scale: 1},
	{what: "VS Code, activation of the extension", group: window, figure: "Editors/vscode activation-ms", atMost: 30, unit: "ms", scale: 1, rival: "vscode"},
	{what: "VS Code, list of 1,000 sessions, click to drawn", group: window, figure: "Editors/crowd picker-ms", atMost: 150, unit: "ms", scale: 1, rival: "crowd"},
	{what: "VS Code, dashboard, another of 1,000 sessions", group: window, figure: "Editors/crowd dashboard-session-ms", atMost: 300, unit: "ms", scale: 1, rival: "crowd"},
	{what: "VS Code, dashboard with 1,000 sessions, opened", group: window, figure: "Editors/crowd dashboard-open-ms", unit: "ms", scale: 1, rival: "crowd"},
	{what: "Neovim, start with the plugin", group: window, figure: "Editors/neovim start-ms", atMost: 0.1, unit: "ms", scale: 1, rival: "neovim"},
}, onDisk(), statuslines())

// onDisk returns the rows about sessions that hosts keep on the disk: 450 of 1 GB in all beside ccusage, and 20,000 small ones.
func onDisk() []row {
	return []row{
		{what: "records, 450 of 1 GB, list", group: rivals, figure: "Records list-ms", atMost: 50, unit: "ms", scale: 1},
		{what: "records, 450 of 1 GB, list, most memory", group: rivals, figure: "Records list-MiB", atMost: 40, unit: "MiB", scale: 1},
		{what: "records, 450 of 1 GB, import, most memory", group: rivals, figure: "Records import-MiB", atMost: 40, unit: "MiB", scale: 1},
		{what: "records, 450 of 1 GB, list, against ccusage session", group: rivals, figure: "Records list-ms", against: "Records ccusage-ms", atMost: 1. / 15, unit: "ms", scale: 1, rival: "ccusage"},
		{what: "records, 450 of 1 GB, first list, against ccusage without its cache", group: rivals, figure: "Records list-cold-ms", against: "Records ccusage-cold-ms", atMost: 1. / 15, unit: "ms", scale: 1, rival: "ccusage"},
		{what: "records, 450 of 1 GB, import, against ccusage without its cache", group: rivals, figure: "Records import-ms", against: "Records ccusage-cold-ms", atMost: 1 / 1.5, unit: "ms", scale: 1, rival: "ccusage"},
		{what: "records, 20,000, first list", group: live, figure: "ManyRecords first-ms", atMost: 300, unit: "ms", scale: 1},
		{what: "records, 20,000, list again in a server", group: live, figure: "ManyRecords refresh-ms", atMost: 10, unit: "ms", scale: 1},
		{what: "records, 20,000, server at rest, of a core", group: live, figure: "ManyRecords rest-percent", atMost: 0.1, unit: "%", scale: 1},
		{what: "records, 20,000, server at rest, memory", group: live, figure: "ManyRecords rest-MiB", atMost: 60, unit: "MiB", scale: 1},
	}
}

// statuslines returns two rows a size of transcript and program that people use today: the time of the whole process, and its memory.
func statuslines() (rows []row) {
	for _, unit := range []struct {
		name, shown string
		limit       float64
	}{{"ms", "whole process", 60_000}, {"MiB", "most memory", 0}} {
		for _, rival := range []struct{ name, shown string }{{"ccstatusline", "ccstatusline"}, {"ccusage", "ccusage statusline"}, {"ccusage-native", "the same without Node"}} {
			for _, size := range []string{"1MB", "50MB", "1GB"} {
				rows = append(rows, row{what: fmt.Sprintf("statusline, %s transcript, %s, against %s", size, unit.shown, rival.shown), group: rivals,
					figure: fmt.Sprintf("Statuslines ctxls-%s-%s", size, unit.name), against: fmt.Sprintf("Statuslines %s-%s-%s", rival.name, size, unit.name),
					atMost: 1, unit: unit.name, scale: 1, rival: rival.name, limit: unit.limit})
			}
		}
	}
	return rows
}

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

// countingBeside returns two rows a kind of text and encoding: against the faster of the two fastest counters that are published, for a
// text that both counted before and for the first text that they see.
func countingBeside() []row {
	var rows []row
	for _, text := range []string{"code", "prose", "json", "cjk", "minified", "base64", "random-bytes", "random-letters", "one-letter", "spaces", "marks", "emoji",
		"cyrillic", "arabic", "devanagari", "thai", "korean", "chinese", "japanese", "markdown", "transcript"} {
		for _, encoding := range []string{"cl100k_base", "o200k_base"} {
			for _, state := range []struct{ name, shown string }{{"", "again"}, {"-fresh", "fresh"}} {
				name := fmt.Sprintf("Rivals/text=%s/encoding=%s ", text, encoding)
				r := row{what: fmt.Sprintf("counting %s, %s, %s, against the faster of two", text, strings.TrimSuffix(encoding, "_base"), state.shown), group: beside,
					figure: name + "ctxls" + state.name + "-MB/s", against: name + "best" + state.name + "-MB/s", atLeast: 1, unit: "MB/s", scale: 1, rival: "counters"}
				if slices.Contains([]string{"code", "prose", "json", "cjk"}, text) {
					r.atLeast = 1.2
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

// What there is to say of a row's bar.
const (
	kept    = "kept"
	missed  = "MISSED"
	leftOut = "left out"
)

// judge returns the row's cells. A figure that was not measured keeps no bar, unless it is known why it could not be.
func (r row) judge(results map[string]float64, reasons map[string]string) (value, against, result, verdict string) {
	figure, measured := results[r.figure]
	if reason := reasons[r.rival]; r.rival != "" && reason != "" {
		if measured {
			value = r.show(figure)
		}
		return value, "", reason, leftOut
	}
	if !measured {
		return "not measured", "", "", missed
	}
	value, judged := r.show(figure), figure*r.scale
	if r.against != "" {
		base, measured := results[r.against]
		if !measured || base == 0 {
			return value, "not measured", "", missed
		}
		judged = figure / base
		against, result = r.show(base), fmt.Sprintf("%.2f ×", judged)
		switch {
		case judged >= 10:
			result = fmt.Sprintf("%.0f ×", judged)
		case judged < 0.1:
			result = fmt.Sprintf("1/%.0f ×", 1/judged)
		}
		if r.limit > 0 && base >= r.limit {
			result = "< " + result
		}
	}
	if r.atLeast > 0 && judged < r.atLeast || r.atMost > 0 && judged > r.atMost {
		return value, against, result, missed
	}
	return value, against, result, kept
}

func (r row) show(figure float64) string {
	if r.limit > 0 && figure >= r.limit {
		return fmt.Sprintf("> %g s", r.limit/1000)
	}
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
		return fmt.Sprintf("≤ %.3g%s", r.atMost, unit)
	}
	return ""
}
