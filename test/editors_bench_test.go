package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// What an editor pays for loading the extension or the plugin, and for showing 1,000 sessions. A program among the editors' own tests
// measures it and prints lines "figure NAME 1.5", in milliseconds. One that cannot run here is left out, with the reason.
func BenchmarkEditors(b *testing.B) {
	if os.Getenv("CTXLS_BENCH_EDITORS") == "" {
		b.Skip("make bench asks for it")
	}
	repo, err := filepath.Abs("..")
	if err != nil {
		b.Fatal(err)
	}
	for _, editor := range []struct {
		name    string
		command []string
	}{
		{"vscode", []string{"node", "editors/vscode/test/run.mjs", "speed"}},
		{"crowd", []string{"node", "editors/vscode/test/run.mjs", "e2e", "theCrowd"}}, // a whole VS Code
		{"neovim", []string{"sh", "editors/neovim/test/run.sh", "test/speed.lua"}},
	} {
		b.Run(editor.name, func(b *testing.B) {
			cmd := exec.Command(editor.command[0], editor.command[1:]...)
			cmd.Dir = repo
			out, err := cmd.CombinedOutput()
			if why := notRun.FindSubmatch(out); why != nil {
				b.Logf("left out: %s: %s", editor.name, why[1])
				return
			}
			if err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			for _, found := range figure.FindAllSubmatch(out, -1) {
				ms, err := strconv.ParseFloat(string(found[2]), 64)
				if err != nil {
					b.Fatalf("%s: %v", found[0], err)
				}
				b.ReportMetric(ms, string(found[1]))
			}
		})
	}
}

var (
	notRun = regexp.MustCompile(`(?m)^(?:not run: the tests in [^:]+: |Error: )(.*)$`)
	figure = regexp.MustCompile(`(?m)\bfigure (\S+) ([\d.]+)$`)
)
