package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// At the end of its time, go test may report a false failure (https://go.dev/issue/75804). fuzz.sh recognizes this
// failure and reports it. It fails after every other failure. A fake go ends here in the observed ways.
func TestFuzzScript(t *testing.T) {
	const (
		progress = "fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed\nfuzz: elapsed: 0s, gathering baseline coverage: 12/12 completed, now fuzzing with 2 workers\n" +
			"fuzz: elapsed: 3s, execs: 32143 (10713/sec), new interesting: 2 (total: 14)\nfuzz: elapsed: 5s, execs: 41020 (4391/sec), new interesting: 2 (total: 14)\n"
		last     = "FAIL\nexit status 1\nFAIL\tgithub.com/ctxls/ctxls/internal/some\t5.123s\n"
		deadline = "    context deadline exceeded\n"
	)
	for name, run := range map[string]struct {
		printed string
		status  string
		well    bool
		says    string
	}{
		"pass":              {progress + "PASS\nok  \tgithub.com/ctxls/ctxls/internal/some\t5.1s\n", "0", true, "1 passed, 0 ended late without a failing input, 0 failed"},
		"late":              {progress + "--- FAIL: FuzzSome (5.12s)\n" + deadline + last, "1", true, "0 passed, 1 ended late without a failing input, 0 failed"},
		"late without news": {"--- FAIL: FuzzSome (5.12s)\n" + deadline + last, "1", true, "*** FuzzSome: its time was up"},
		"a failing input": {progress + "--- FAIL: FuzzSome (2.12s)\n    --- FAIL: FuzzSome (0.00s)\n        some_test.go:9: wrong\n    \n    Failing input written to testdata/fuzz/FuzzSome/771e938e4458e983\n" +
			"    To re-run:\n    go test -run=FuzzSome/771e938e4458e983\n" + last, "1", false, "0 passed, 0 ended late without a failing input, 1 failed"},
		"an input that fails by a deadline": {progress + "--- FAIL: FuzzSome (2.12s)\n    --- FAIL: FuzzSome (0.00s)\n        some_test.go:9: context deadline exceeded\n    \n    Failing input written to testdata/fuzz/FuzzSome/771e938e4458e983\n" +
			"    To re-run:\n    go test -run=FuzzSome/771e938e4458e983\n" + last, "1", false, "1 failed"},
		"late with a failing input": {progress + "--- FAIL: FuzzSome (5.12s)\n" + deadline + "    Failing input written to testdata/fuzz/FuzzSome/771e938e4458e983\n" + last, "1", false, "1 failed"},
		"a failing seed": {"fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed\nfailure while testing seed corpus entry: FuzzSome/seed#1\nfuzz: elapsed: 0s, gathering baseline coverage: 1/12 completed\n" +
			"--- FAIL: FuzzSome (0.03s)\n    --- FAIL: FuzzSome (0.00s)\n        some_test.go:9: wrong\n    \n" + last, "1", false, "1 failed"},
		"another target":     {progress + "--- FAIL: FuzzOther (5.12s)\n" + deadline + last, "1", false, "1 failed"},
		"a worker that dies": {progress + "--- FAIL: FuzzSome (5.12s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\n" + last, "1", false, "1 failed"},
		"a panic":            {progress + "panic: boom\n\ngoroutine 1 [running]:\n--- FAIL: FuzzSome (5.12s)\n" + deadline + last, "1", false, "1 failed"},
		"a broken build":     {"# github.com/ctxls/ctxls/internal/some\n./some_test.go:9:1: syntax error\nFAIL\tgithub.com/ctxls/ctxls/internal/some [build failed]\nFAIL\n", "1", false, "1 failed"},
		"nothing":            {"", "2", false, "1 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := scripted(t, "fuzz.sh", []string{"5s"}, map[string]string{
				"internal/some/some_test.go": "package some\n\nfunc FuzzSome(f *testing.F) {}\n",
				"cmd/none.go":                "package none\n",
				"printed":                    run.printed,
				"bin/go":                     "#!/bin/sh\ncat printed\nexit " + run.status + "\n",
			})
			if well := err == nil; well != run.well || !strings.Contains(out, run.says) || !strings.Contains(out, run.printed) {
				t.Errorf("%v; want %v, and it to say %q:\n%s", err, run.well, run.says, out)
			}
		})
	}
}

// Every stage runs, even after the failure of another. Skipped stages are listed at the end, and are a failure only in
// CI.
func TestStagesScript(t *testing.T) {
	const lacks = "echo 'not run: the race detector: there is no cc'"
	for name, run := range map[string]struct {
		needs, first, second string // commands that replace those of make
		ci                   string
		well                 bool
		says                 string
	}{
		"pass":                {"", "echo tested", "", "", true, "stages: 2 passed, 0 failed"},
		"the second one runs": {"", "echo broken; exit 1", "echo tested", "", false, "stages: 1 passed, 1 failed"},
		"left out":            {"", "echo tested", lacks, "", true, "Left out on this machine:\n  the race detector: there is no cc\n"},
		"left out by needs":   {lacks, "echo tested", lacks, "false", true, "Left out on this machine:\n  the race detector: there is no cc\n\nok"},
		"left out in CI":      {lacks, "echo tested", "", "true", false, "stages: 2 passed, 0 failed\nCI=true: what is left out is a failure"},
		"nothing can run":     {"echo 'there is no Go'; exit 1", "echo tested", "echo tested", "", false, "there is no Go\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := scripted(t, "stages.sh", []string{"first", "second"}, map[string]string{
				"bin/make": "#!/bin/sh\n[ \"$1\" = --no-print-directory ] && shift\ncase $1 in\nneeds) " + run.needs + "\n;;\nfirst) " + run.first + "\n;;\nsecond) " + run.second + "\n;;\nesac\n",
			}, "CI="+run.ci, "MAKE=")
			if well := err == nil; well != run.well || !strings.Contains(out, run.says) {
				t.Errorf("%v; want %v, and it to say %q:\n%s", err, run.well, run.says, out)
			}
			if tested := strings.Contains(out, "tested\n"); tested == strings.Contains(run.needs, "exit") {
				t.Errorf("what a stage prints is shown: %v\n%s", tested, out)
			}
		})
	}
}

// A missing requirement is reported in one sentence, with the next step.
func TestRequireScript(t *testing.T) {
	const (
		goes  = "#!/bin/sh\n[ $1 = env ] || { echo no route >&2; exit 1; }\ncase $2 in\nGOVERSION) echo go1.99.0 ;;\nGOTOOLCHAIN) echo ${TOOLCHAIN:-local} ;;\nGOCACHE) pwd ;;\nGOPROXY) echo https://proxy.example ;;\nesac\n"
		df    = "#!/bin/sh\necho 'Filesystem 1024-blocks Used Available Capacity Mounted on'\necho '/dev/vda 1000000 700000 307200 70% /'\n"
		npm   = "#!/bin/sh\n[ $1 = ping ] && exit 1\necho https://npm.example/\n"
		print = "#!/bin/sh\necho "
	)
	old := strings.Replace(goes, "1.99.0", "1.20.3", 1)
	for name, run := range map[string]struct {
		thing string
		bin   map[string]string
		env   string
		says  string // "" means that nothing is missing
	}{
		"Go":                 {"go", map[string]string{"go": goes}, "", ""},
		"no Go":              {"go", nil, "", `there is no Go on the PATH. Install Go 1\.[0-9.]+ or later: https://go\.dev/dl`},
		"an old Go":          {"go", map[string]string{"go": strings.Replace(goes, "1.99.0", "1.25.7", 1)}, "", `Go 1\.25\.7 is too old: ctxls is built with Go 1\.[0-9.]+ or later. Install it: https`},
		"one that gets more": {"go", map[string]string{"go": strings.Replace(goes, "1.99.0", "1.25.7", 1)}, "TOOLCHAIN=auto", ""},
		"one that does not":  {"go", map[string]string{"go": old}, "TOOLCHAIN=auto", `Go 1\.20\.3 is too old`},
		"Node":               {"node", map[string]string{"node": print + "v24.1.0", "npm": npm}, "", ""},
		"no Node":            {"node", nil, "", `there is no Node\.js on the PATH, or no npm. Install Node\.js 20 or later with npm: https://nodejs\.org`},
		"no npm":             {"node", map[string]string{"node": print + "v24.1.0"}, "", `or no npm`},
		"an old Node":        {"node", map[string]string{"node": print + "v18.20.1", "npm": npm}, "", `Node\.js 18\.20\.1 is too old: the tests need 20 or later`},
		"a full disk":        {"room", map[string]string{"go": goes, "df": df}, "", `the disk of \S+ has 300 MB left; the tests need 2048. Make room, or put caches elsewhere: XDG_CACHE_HOME, GOCACHE, TMPDIR`},
		"no modules":         {"modules", map[string]string{"go": goes}, "", `Go's modules cannot be downloaded from https://proxy\.example. Is there a network\? Behind a proxy, set https_proxy; with a mirror, go env -w GOPROXY=URL`},
		"no packages":        {"packages", map[string]string{"npm": npm}, "", `the npm registry https://npm\.example/ does not answer. Is there a network\? Behind a proxy, set https_proxy; with a mirror, npm config set registry URL`},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"bin/.keep": ""}
			for program, text := range run.bin {
				files["bin/"+program] = text
			}
			for _, program := range []string{"sh", "sed", "sort", "head", "awk", "df", "dirname"} { // and none of the machine's other programs
				at, err := exec.LookPath(program)
				if err != nil {
					t.Fatal(err)
				}
				if files["bin/"+program] == "" {
					files["bin/"+program] = "#!/bin/sh\nexec " + at + ` "$@"`
				}
			}
			out, err := scripted(t, "require.sh", []string{run.thing}, files, "PATH=$DIR/bin", run.env)
			said := regexp.MustCompile(`^ctxls: .*` + run.says + `.*\n$`)
			if run.says == "" && (err != nil || out != "") || run.says != "" && (err == nil || !said.MatchString(out)) {
				t.Errorf("%v; want it to say %q:\n%s", err, run.says, out)
			}
		})
	}
}

// scripted runs one of our scripts in a directory with its own files, in which bin/go replaces go.
func scripted(t *testing.T, script string, args []string, files map[string]string, env ...string) (printed string, err error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh of its own; the scripts are for machines that build ctxls with make")
	}
	script, err = filepath.Abs(filepath.Join("../internal/tools", script))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for path, text := range files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", append([]string{script}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, e := range env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(e, "$DIR", dir))
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
