//go:build linux && e2e

package gemini

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/test/e2e"
)

// A ctxls that dies, hangs or loses its state in the midst of a turn: what people are answered and what the model sees is what it
// is without ctxls, and nothing is left behind. Of hooks that fail Gemini CLI warns people by itself.
func TestFaults(t *testing.T) {
	scripts := func() map[string][]reply {
		return map[string][]reply{"work": {
			{tokens: 100_000, calls: []call{read("notes.txt")}},
			{tokens: 200_000, calls: []call{read("src/main.go")}},
			{tokens: 300_000, text: "All is done."},
		}}
	}
	t.Parallel()
	dir := t.TempDir()
	run := func(fault string) (w *testEnv, answer, warnings string) {
		for _, name := range []string{"home", "project"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		w = newTestEnvAt(t, dir, scripts())
		if fault == "broken" {
			w.Write(filepath.Join(w.Home, ".local", "state"), "a file where the directory should be")
			w.install()
		} else if fault != "" {
			w.faulty(fault)
		}
		answer, warnings = w.prompt(one, "[[work]] look around")
		return w, answer, warnings
	}
	without, plain, usual := run("")
	// From the fifth call on it is in the midst of the turn: the first tool ran.
	for name, fault := range map[string]string{
		"dies":            "kill -SEGV $$",
		"fails":           "echo oops; echo oops >&2; exit 1",
		"hangs":           "exec sleep " + sleeping,
		"loses its state": "broken",
	} {
		w, answer, warnings := run(fault)
		if n := len(w.model.Asked("work")); n != 3 {
			t.Fatalf("%s: the model was asked %v", name, w.model.Kinds())
		}
		for i, r := range w.model.Requests() {
			if diff := cmp.Diff(essence(without.model.Requests()[i]), essence(r)); diff != "" {
				t.Errorf("%s: request %d (-without +with):\n%s", name, i, diff)
			}
		}
		wantSaid(t, name, w.model.Last("work"))
		if answer != plain || strings.TrimSpace(answer) != "All is done." || fault == "broken" && ofHooks(warnings) != ofHooks(usual) {
			t.Errorf("%s: people see %q and %q, without ctxls %q and %q", name, answer, warnings, plain, usual)
		}
		if calls, _ := os.ReadFile(filepath.Join(w.Home, "bin", "ctxls.calls")); fault != "broken" && len(calls) < 7 {
			t.Errorf("%s: ctxls was run %d times", name, len(calls)) // a line feed each
		}
		e2e.Eventually(t, func() string { // who is killed ends in its own time
			if left := processes(sleeping); len(left) > 0 {
				return fmt.Sprintf("%s: left behind: %q", name, left)
			}
			return ""
		})
	}
}

// ofHooks leaves out of what Gemini CLI says on standard error what it says of its own start, which depends on how fast that was.
func ofHooks(warnings string) string {
	lines := slices.DeleteFunc(strings.Split(warnings, "\n"), func(line string) bool { return strings.HasPrefix(line, "[STARTUP]") })
	return strings.Join(lines, "\n")
}

// sleeping is for how many seconds a hook hangs: a number by which it is found among the processes.
const sleeping = "98765.4321"

// Where ctxls was moved or removed, and on the machine of somebody who shares a project's settings, prompts are answered all the
// same: of a hook that ends with anything but 0 or 1, Gemini CLI takes whatever it said for a veto, "No such file" of bash too.
func TestProgramGone(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"work": {{tokens: 100_000, calls: []call{read("notes.txt")}}, {tokens: 110_000, text: "All is done."}}})
	w.install()
	text, err := os.ReadFile(w.settings())
	if err != nil {
		t.Fatal(err)
	}
	w.Write(w.settings(), strings.ReplaceAll(string(text), e2e.CTXLSBin(), filepath.Join(w.Home, "gone", "ctxls")))
	if answer, warnings := w.prompt(one, "[[work]] look around"); strings.TrimSpace(answer) != "All is done." {
		t.Errorf("people see %q and %q", answer, warnings)
	}
}

// faulty has Gemini CLI run a ctxls that is the real one four times and has a fault from then on.
func (w *testEnv) faulty(fault string) {
	bin := filepath.Join(w.Home, "bin", "ctxls")
	w.Write(bin, fmt.Sprintf(`#!/bin/sh
echo >> %[1]s.calls
[ $(wc -l < %[1]s.calls) -le 4 ] && exec %[2]s "$@"
%[3]s
`, bin, e2e.CTXLSBin(), fault))
	if err := os.Chmod(bin, 0o755); err != nil {
		w.T.Fatal(err)
	}
	w.install()
	text, err := os.ReadFile(w.settings())
	if err != nil {
		w.T.Fatal(err)
	}
	command := e2e.CTXLSBin() + " hook"
	if !strings.Contains(string(text), command) {
		w.T.Fatalf("no %s in\n%s", command, text)
	}
	replaced := strings.ReplaceAll(string(text), command, bin+" hook")
	w.Write(w.settings(), strings.ReplaceAll(replaced, `"timeout": 5000`, `"timeout": 1500`))
}

// processes returns the command lines that hold a word.
func processes(word string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), word) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// Why the installed command begins with "exec": when a hook takes too long, the host ends the shell alone and waits for whoever
// holds the hook's output open.
func TestWhyExec(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"work": {{tokens: 100_000, calls: []call{read("notes.txt")}}, {tokens: 110_000, text: "All is done."}}})
	const holds = 15 * time.Second
	gap := func(command string) time.Duration {
		hook := fmt.Sprintf(`"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": %q, "timeout": 500}]}]}, "telemetry"`, command)
		w.Write(w.settings(), strings.Replace(base, `"telemetry"`, hook, 1))
		w.prompt(one, "[[work]] look around")
		asked := w.model.Asked("work")
		return asked[len(asked)-1].At.Sub(asked[len(asked)-2].At)
	}
	if took := gap("sleep 15; true"); took < holds {
		t.Errorf("without exec the turn went on after %v, before the hook's child ended: the prefix is no longer needed", took)
	}
	if took := gap("exec sleep 15"); took >= holds {
		t.Errorf("with exec the turn went on after %v", took)
	}
}
