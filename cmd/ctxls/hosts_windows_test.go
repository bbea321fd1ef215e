package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
)

// ctxlsIn runs ctxls in its own home and returns its output.
func ctxlsIn(t *testing.T, home, stdin, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = home, append(homeAt(home), "CTXLS_WAIT=10000"), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", program, args, err, out)
	}
	return string(out)
}

// cwds returns the directory of each session that `ctxls sessions` lists.
func cwds(t *testing.T, home string, args ...string) map[string]string {
	t.Helper()
	var sessions []struct {
		SessionID, CWD string
		Usage          struct{ Tokens *int }
	}
	said := ctxlsIn(t, home, "", asCtxls(t), append([]string{"sessions", "--all", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(said), &sessions); err != nil {
		t.Fatalf("%v in %s", err, said)
	}
	found := map[string]string{}
	for _, s := range sessions {
		found[s.SessionID] = s.CWD
	}
	return found
}

// spellings returns the forms of a directory in hosts and shells, escaped for JSON: \, /, Git Bash, and the form for
// long paths.
func spellings(dir string) map[string]string {
	slashed := filepath.ToSlash(dir)
	return map[string]string{
		"native": strings.ReplaceAll(dir, `\`, `\\`), "slashed": slashed, "lower": strings.ToLower(slashed[:1]) + slashed[1:],
		"git-bash": "/" + strings.ToLower(slashed[:1]) + slashed[2:], "long": strings.ReplaceAll(`\\?\`+dir, `\`, `\\`),
	}
}

// For every spelling of a directory, the session is in the directory that Windows knows by that name. This holds for
// names in other scripts, with blanks, with more than 260 characters, and on a server.
func TestDirectoriesOfWindows(t *testing.T) {
	home := t.TempDir()
	deep := filepath.Join(home, "Проект 日本 é", strings.Repeat("a long name ", 10)+"x", strings.Repeat("b", 120))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if len(deep) <= 260 {
		t.Fatal("too short to be long: ", len(deep))
	}
	transcript, err := os.ReadFile("../../internal/host/claudecode/testdata/transcripts/basic.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "t.jsonl"), transcript, 0o600); err != nil {
		t.Fatal(err)
	}
	prompt := func(id, cwd, file string) {
		t.Helper()
		ctxlsIn(t, home, fmt.Sprintf(`{"session_id":"%s","transcript_path":"%s","cwd":"%s","hook_event_name":"UserPromptSubmit","prompt":"look at @src\\main.go"}`, id, file, cwd), asCtxls(t), "hook", "claude-code")
	}
	want := map[string]string{}
	for name, cwd := range spellings(deep) {
		file := cwd + "/t.jsonl"
		if strings.Contains(cwd, `\`) {
			file = cwd + `\\t.jsonl`
		}
		prompt(name, cwd, file)
		want[name] = deep
	}
	prompt("server", `\\\\server\\share\\проект`, `\\\\server\\share\\t.jsonl`)
	want["server"] = `\\server\share\проект`
	got := cwds(t, home)
	for name, cwd := range want {
		if got[name] != cwd {
			t.Errorf("%s: the session is in %q, want %q", name, got[name], cwd)
		}
	}
	if log, _ := os.ReadFile(filepath.Join(home, "ctxls", "ctxls.log")); strings.Contains(strings.ReplaceAll(string(log), `server`, ""), "hook failed") {
		t.Errorf("the log: %s", log)
	}
	said := ctxlsIn(t, home, "", asCtxls(t), "sessions", "--json")
	if n := strings.Count(said, `"tokens": `+tokensOf(t, said)); n < len(spellings(deep)) {
		t.Errorf("the transcript was read for %d of %d spellings", n, len(spellings(deep)))
	}
}

// tokensOf returns the first known number of tokens.
func tokensOf(t *testing.T, said string) string {
	t.Helper()
	_, after, ok := strings.Cut(said, `"tokens": `)
	for ok && strings.HasPrefix(after, "null") {
		_, after, ok = strings.Cut(after, `"tokens": `)
	}
	number, _, _ := strings.Cut(after, ",")
	if !ok || number == "0" {
		t.Fatalf("no session has a figure: %s", said)
	}
	return number
}

// Every captured payload, with each spelling of a Windows directory, ends with 0 and logs no error.
func TestPayloadsOnWindows(t *testing.T) {
	for _, host := range []struct {
		name session.Host
		dir  string
	}{{session.HostClaudeCode, "claudecode"}, {session.HostCodex, "codex"}, {session.HostGeminiCLI, "gemini"}} {
		t.Run(string(host.name), func(t *testing.T) {
			home := t.TempDir()
			payloads, err := filepath.Glob(filepath.Join("../../internal/host", host.dir, "testdata/payloads/*.json"))
			if err != nil || len(payloads) == 0 {
				t.Fatal(payloads, err)
			}
			forms := []string{}
			for _, form := range spellings(filepath.Join(home, "Проект 日本")) {
				forms = append(forms, form)
			}
			for i, path := range payloads {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				moved := strings.ReplaceAll(string(text), "/home/dev/project", forms[i%len(forms)])
				moved = strings.ReplaceAll(moved, "/home/dev/", strings.ReplaceAll(home, `\`, `\\`)+`\\`)
				event, _, _ := strings.Cut(filepath.Base(path), ".")
				ctxlsIn(t, home, moved, asCtxls(t), "hook", string(host.name), "--event", event)
			}
			for id, cwd := range cwds(t, home) {
				if cwd != "" && !strings.HasPrefix(cwd, home[:2]) {
					t.Errorf("%s is in %q", id, cwd)
				}
			}
			if log, _ := os.ReadFile(filepath.Join(home, "ctxls", "ctxls.log")); strings.Contains(string(log), "level=ERROR") {
				t.Errorf("the log: %s", log)
			}
		})
	}
}

// The lines that install writes run in the way of each host: Claude Code starts the program with its arguments, and
// Codex runs a line with cmd.exe. The program is in a directory with a blank in its name, as is common.
func TestWhatIsInstalledRunsOnWindows(t *testing.T) {
	home := t.TempDir()
	program := filepath.Join(home, "Ada Lovelace", "ctxls.exe")
	self, err := os.ReadFile(asCtxls(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, self, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, host := range []session.Host{session.HostClaudeCode, session.HostCodex} {
		ctxlsIn(t, home, "", program, "install", string(host))
		file := map[session.Host]string{session.HostClaudeCode: ".claude/settings.json", session.HostCodex: ".codex/hooks.json"}[host]
		text, err := os.ReadFile(filepath.Join(home, file))
		if err != nil {
			t.Fatal(err)
		}
		var settings struct {
			Hooks map[string][]struct {
				Hooks []struct {
					Command string
					Args    []string
				}
			}
		}
		if err := json.Unmarshal(text, &settings); err != nil {
			t.Fatal(err)
		}
		hook := settings.Hooks["UserPromptSubmit"][0].Hooks[0]
		payload := fmt.Sprintf(`{"session_id":"of %s","cwd":"C:\\work","hook_event_name":"UserPromptSubmit","prompt":"hello"}`, host)
		cmd := exec.Command(hook.Command, hook.Args...)
		if hook.Args == nil { // cmd.exe has its own rules for parsing a line
			cmd = exec.Command("cmd")
			cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: "cmd /d /c " + hook.Command}
		}
		cmd.Dir, cmd.Env, cmd.Stdin = home, append(homeAt(home), "CTXLS_WAIT=10000"), strings.NewReader(payload)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %q: %v: %s", host, hook, err, out)
		}
		if got := cwds(t, home)["of "+string(host)]; got != `C:\work` {
			t.Errorf("%s runs %q, and the session is in %q", host, hook, got)
		}
		ctxlsIn(t, home, "", program, "uninstall", string(host))
		if _, err := os.Stat(filepath.Join(home, file)); err == nil {
			t.Errorf("%s is left", file)
		}
	}
}
