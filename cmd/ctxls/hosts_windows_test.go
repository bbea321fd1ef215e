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

	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/host/settings"
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
	for _, dir := range []string{"claudecode", "codex", "gemini", "opencode", "pi", "qwen"} {
		t.Run(dir, func(t *testing.T) {
			host := map[string]string{"claudecode": "claude-code", "gemini": "gemini-cli", "qwen": "qwen-code"}[dir]
			if host == "" {
				host = dir
			}
			home := t.TempDir()
			payloads, err := filepath.Glob(filepath.Join("../../internal/host", dir, "testdata/payloads/*.json"))
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
				if _, hook, ok := strings.Cut(moved, `"hook": "`); ok && dir == "opencode" { // whose captures name it
					event, _, _ = strings.Cut(hook, `"`)
					moved = strings.Replace(moved, "{", `{"directory": "`+forms[i%len(forms)]+`",`, 1)
				}
				ctxlsIn(t, home, moved, asCtxls(t), "hook", host, "--event", event)
			}
			known := cwds(t, home)
			if len(known) == 0 {
				t.Error("no session is known")
			}
			for id, cwd := range known {
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

// What install writes runs in the way of each host: Claude Code starts the program with its arguments, Codex runs a line
// with cmd.exe, Gemini CLI and Qwen Code with PowerShell. Plugins start the program that they name. The program is in a
// directory with a blank in its name, as is common. doctor finds nothing wrong, and uninstall leaves nothing.
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
	env := host.Env{Home: home, CWD: home, Getenv: func(string) string { return "" }}
	for _, h := range registry.Installable() {
		t.Run(string(h.Name), func(t *testing.T) {
			ctxlsIn(t, home, "", program, "install", string(h.Name))
			file := h.Installer.SettingsFile(settings.User, env)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cmd := startedBy(t, text, program)
			payload := fmt.Sprintf(`{"session_id":"of %s","cwd":"C:\\work","hook_event_name":"UserPromptSubmit","prompt":"hello"}`, h.Name)
			if strings.HasSuffix(file, ".js") { // which speaks to a server
				cmd = exec.Command(cmd.Path, "hook", "generic")
				payload = fmt.Sprintf(`{"event":"prompt","sessionId":"of %s","cwd":"C:\\work","text":"hello"}`, h.Name)
			}
			cmd.Dir, cmd.Env, cmd.Stdin = home, append(homeAt(home), "CTXLS_WAIT=10000"), strings.NewReader(payload)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%q: %v: %s", cmd, err, out)
			}
			if got := cwds(t, home)["of "+string(h.Name)]; got != `C:\work` {
				t.Errorf("%q runs, and the session is in %q", cmd, got)
			}
			said := ctxlsIn(t, home, "", program, "doctor")
			for _, want := range []string{`ok    hooks        installed for the user (` + file, `ok    program      this ctxls is run by `} {
				if !strings.Contains(said, want) {
					t.Errorf("want %q; doctor said %s", want, said)
				}
			}
			ctxlsIn(t, home, "", program, "uninstall", string(h.Name))
			if _, err := os.Stat(file); err == nil {
				t.Errorf("%s is left", file)
			}
		})
	}
}

// startedBy prepares what a host starts by its settings, or a plugin by its text.
func startedBy(t *testing.T, text []byte, program string) *exec.Cmd {
	t.Helper()
	if _, line, ok := strings.Cut(string(text), "const INSTALLED = "); ok {
		var named string
		if err := json.NewDecoder(strings.NewReader(line)).Decode(&named); err != nil || filepath.FromSlash(named) != program {
			t.Fatalf("the plugin starts %q: %v", named, err)
		}
		return exec.Command(named)
	}
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command, Shell string
				Args           []string
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"UserPromptSubmit", "BeforeAgent"} {
		for _, group := range file.Hooks[event] {
			hook := group.Hooks[0]
			if hook.Args != nil {
				return exec.Command(hook.Command, hook.Args...)
			}
			if line, ok := strings.CutPrefix(hook.Command, "& '"); ok { // of PowerShell, which Wine has not: a program in quotes, and words
				named, words, _ := strings.Cut(line, "' ")
				return exec.Command(named, strings.Fields(words)...)
			}
			cmd := exec.Command("cmd") // which has its own rules for parsing a line
			cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: "cmd /d /c " + hook.Command}
			return cmd
		}
	}
	t.Fatalf("no hook in %s", text)
	return nil
}
