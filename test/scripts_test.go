package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// At the end of its time go test may report a failure that is none (https://go.dev/issue/75804). fuzz.sh tells that one apart and
// says so; whatever else fails makes it fail. Here a program in the place of go ends as go has been seen to.
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

// The end-to-end tests drive programs that are not ours: e2e.sh gives a test a second try, and no more than that.
func TestEndToEndScript(t *testing.T) {
	const (
		pass   = "=== RUN   TestTurn\n--- PASS: TestTurn (1.20s)\nPASS\nok  \tgithub.com/ctxls/ctxls/test/some\t1.3s\n"
		first  = "--- PASS: TestTurn (1.20s)\n"
		late   = "--- FAIL: TestLate (60.10s)\n    some_test.go:9: nothing came\n"
		later  = "--- FAIL: TestLater (60.10s)\n    --- FAIL: TestLater/one (60.00s)\n        some_test.go:9: nothing came\n"
		failed = "FAIL\nFAIL\tgithub.com/ctxls/ctxls/test/some\t61.3s\nFAIL\n"
	)
	for name, run := range map[string]struct {
		first, second string // what go test prints; "" is that it is not run
		well          bool
		says          string
	}{
		"pass":           {pass, "", true, "hosts: 1 passed, 0 passed at the second attempt, 0 failed"},
		"failed once":    {first + late + failed, pass, true, "*** some: TestLate failed, and passed when run once more\nhosts: 0 passed, 1 passed at the second attempt, 0 failed"},
		"two, once":      {late + first + later + failed, pass, true, "-run ^(TestLate|TestLater)$"},
		"failed twice":   {first + late + failed, late + failed, false, "hosts: 0 passed, 0 passed at the second attempt, 1 failed"},
		"a panic":        {late + "panic: boom\n\ngoroutine 1 [running]:\n" + failed, "", false, "1 failed"},
		"a broken build": {"FAIL\tgithub.com/ctxls/ctxls/test/some [build failed]\nFAIL\n", "", false, "1 failed"},
		"no test named":  {"the host is not there\n" + failed, "", false, "1 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := scripted(t, "e2e.sh", nil, map[string]string{
				"1": run.first, "2": run.second,
				"bin/go": `#!/bin/sh
[ "$1" = test ] || { echo /p/test/some; exit; }
echo "go $*"
n=$(($(cat count 2>/dev/null || echo 0) + 1))
echo $n > count
cat $n
! grep -q ^FAIL $n
`,
			})
			ran := strings.Count(out, "go test -tags e2e -count=1 ")
			if well := err == nil; well != run.well || !strings.Contains(out, run.says) || !strings.Contains(out, run.first) || (ran == 2) != (run.second != "") {
				t.Errorf("%v after %d runs; want %v, and it to say %q:\n%s", err, ran, run.well, run.says, out)
			}
		})
	}
}

// scripted runs one of our scripts in a directory with files of its own, where bin/go stands in the place of go.
func scripted(t *testing.T, script string, args []string, files map[string]string) (printed string, err error) {
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
	out, err := cmd.CombinedOutput()
	return string(out), err
}
