package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A program with another name would not find its hooks again.
func TestDoctorByAnotherName(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	program, err := os.ReadFile(asCtxls(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, program, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(other, "doctor")
	cmd.Args[0], cmd.Env = "ctxls", []string{"HOME=" + t.TempDir()}
	out, err := cmd.Output()
	if err == nil || !regexp.MustCompile(`  fail  program +this program is called other\n +→ name it ctxls`).Match(out) || !regexp.MustCompile(`  warn  PATH +there is no ctxls on the PATH\n`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

// On a full or read-only disk, doctor reports it and fails, and still inspects the state. The test creates the state
// before the fault.
func TestDoctorOnBadDisks(t *testing.T) {
	for name, test := range map[string]struct{ harm, want string }{
		"well":        {"true", "\nexit 0\n$"},
		"read-only":   {`mount -o remount,bind,ro "$D"`, "  fail  writable +read-only file system: "},
		"nearly full": {`dd if=/dev/zero of="$D/filler" bs=1M count=100 2>/dev/null`, "  warn  disk +[0-9.]+ MiB left\n(.*\n)*exit 0\n$"},
		"full":        {`{ dd if=/dev/zero of="$D/filler" bs=4k 2>/dev/null; true; }`, "  fail  disk +full: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := `mount -t tmpfs -o size=128m tmpfs "$D" && "$CTXLS" sessions >/dev/null 2>&1 && ` + test.harm + ` && "$CTXLS" doctor 2>&1; echo "exit $?"`
			cmd := onDisk(t, dir, script)
			out, err := cmd.Output()
			if err != nil || !regexp.MustCompile(test.want).Match(out) || !strings.Contains(string(out), "valid; no sessions yet") {
				t.Errorf("%v, want %q in\n%s", err, test.want, out)
			}
			if strings.Contains(test.want, "fail") && !strings.HasSuffix(string(out), "check failed\nexit 1\n") {
				t.Errorf("it ends with\n%s", out)
			}
		})
	}
}
