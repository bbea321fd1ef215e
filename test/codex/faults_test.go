//go:build linux && e2e

package codex

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/test/e2e"
)

// stage installs a ctxls in its own directory, so that a script can replace it.
func (w *testEnv) stage() (path string) {
	w.T.Helper()
	path = filepath.Join(w.Home, "my tools", "ctxls") // the path that is installed has a blank in it
	w.Write(filepath.Join(filepath.Dir(path), ".keep"), "")
	if err := os.Link(e2e.CTXLSBin(), path); err != nil {
		w.T.Fatal(err)
	}
	cmd := w.Command(w.T.Context(), path, "install", "codex")
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(path)+":/usr/bin:/bin")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.T.Fatalf("%v: %s", err, out)
	}
	return path
}

// A ctxls that crashes, hangs, or prints garbage while tools run harms no turn. The model gets the same requests and
// results, and the user sees the same. Before and after the fault, ctxls works.
func TestFaultsInTheMiddleOfATurn(t *testing.T) {
	script := map[string][]reply{"work": work(), "more": {{tokens: 200_260, text: "More."}}}
	play := func(t *testing.T, fault string) (w *testEnv, printed []string, took time.Duration) {
		w = newTestEnv(t, script)
		path := w.stage()
		if fault != "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			// The fault affects only the hook of the second tool.
			w.Write(path, "#!/bin/sh\ninput=$(cat)\ncase $input in\n*'\"PostToolUse\"'*)\n  if mkdir \"$HOME/first\" 2>/dev/null; then :\n"+
				"  elif mkdir \"$HOME/second\" 2>/dev/null; then "+fault+"\n  fi;;\nesac\nprintf %s \"$input\" | "+e2e.CTXLSBin()+" \"$@\"\n")
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		first := w.prompt("", "[[work]] please look around", bypass)
		took = time.Since(began)
		second := w.prompt(first.session, "[[more]] go on", bypass)
		if fault != "" {
			if _, err := os.Stat(filepath.Join(w.Home, "second")); err != nil {
				t.Fatalf("the fault was not met: %v", err)
			}
		}
		if first.answer != "Done." || second.answer != "More." {
			t.Errorf("answers %q and %q", first.answer, second.answer)
		}
		return w, append(first.items, second.items...), took
	}
	sound, plain, _ := play(t, "")
	for name, fault := range map[string]string{
		"crash":    "kill -SEGV $$",
		"hang":     "sleep 300",
		"deaf":     "exec sleep 300 <&- >&- 2>&-",
		"nonsense": "echo '{\"hookSpecificOutput\": {'; exit 0",
		"status":   "echo said >&2; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			faulty, printed, took := play(t, fault)
			if diff := cmp.Diff(plain, printed); diff != "" {
				t.Errorf("what people see (-sound +faulty):\n%s", diff)
			}
			if diff := cmp.Diff(sound.model.Kinds(), faulty.model.Kinds()); diff != "" {
				t.Fatalf("requests (-sound +faulty):\n%s", diff)
			}
			for i, r := range faulty.model.Requests() {
				if diff := cmp.Diff(sound.essence(sound.model.Requests()[i]), faulty.essence(r)); diff != "" {
					t.Errorf("request %d (-sound +faulty):\n%s", i, diff)
				}
			}
			wantSaid(t, "the turn after", faulty.model.Last("more"), guidance, mark(75))
			if took > 30*time.Second { // the hook that hangs has a timeout of five seconds
				t.Errorf("the turn took %v", took)
			}
		})
	}
}

// If ctxls was moved or removed, prompts are answered all the same.
func TestProgramGone(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"work": work()})
	if err := os.Remove(w.stage()); err != nil {
		t.Fatal(err)
	}
	if turn := w.prompt("", "[[work]] please look around", bypass); turn.answer != "Done." {
		t.Errorf("people see %q", turn.items)
	}
	wantSaid(t, "all of it", w.model.Last("work"))
}

// A ctxls that cannot write its state says nothing and does not disturb the host.
func TestBrokenState(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"work": work()})
	w.install()
	w.Write(filepath.Join(w.Home, ".local", "state"), "a file where the directory should be")
	if turn := w.prompt("", "[[work]] please look around", bypass); turn.answer != "Done." {
		t.Errorf("people see %q", turn.items)
	}
	wantSaid(t, "all of it", w.model.Last("work"))
	if n := len(w.model.Asked("work")); n != 5 {
		t.Errorf("the model was asked %d times", n)
	}
}

// The end of a session is recorded, although Codex allows little time, and even if ctxls starts slowly.
func TestSessionEnd(t *testing.T) {
	w := newTestEnv(t, map[string][]reply{"more": {{tokens: 144_000, text: "More."}}})
	path := w.stage()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.Write(path, "#!/bin/sh\nsleep 1.5\nexec "+e2e.CTXLSBin()+" \"$@\"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	turn := w.prompt("", "[[more]] go", bypass)
	if s, _ := w.Session(turn.session); s.State != "ended" {
		t.Errorf("the session is %s", s.State)
	}
}
