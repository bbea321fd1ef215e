package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// After a session is deleted, only its ID remains, among the last removed sessions. The state and the current and
// previous log files contain nothing else of it, at any log level.
func TestADeletedSessionLeavesNoBytes(t *testing.T) {
	home := t.TempDir()
	const id, other = "0191c2f4-secret-session", "0191c2f4-kept-session"
	hook := func(id, rest string) {
		t.Helper()
		cmd := exec.Command(asCtxls(t), "hook", "claude-code")
		cmd.Env = append(homeAt(home), "CTXLS_LOG_LEVEL=debug")
		cmd.Stdin = strings.NewReader(`{"session_id":"` + id + `","cwd":"/secret-directory","transcript_path":"/secret-directory/` + id + `.jsonl",` + rest + `}`)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, id := range []string{id, other} {
		hook(id, `"hook_event_name":"UserPromptSubmit","prompt":"secret-prompt"`)
		hook(id, `"hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Read","tool_input":{"file_path":"/secret-directory/secret-file.go"}}]`)
		hook(id, `"hook_event_name":"PreCompact","trigger":"manual"`)
	}
	log := filepath.Join(home, "ctxls", "ctxls.log")
	text, err := os.ReadFile(log)
	if err != nil || !bytes.Contains(text, []byte("secret-file.go")) || !bytes.Contains(text, []byte(id)) {
		t.Fatalf("the log does not tell of it, so this sees nothing: %v\n%s", err, text)
	}
	if err := os.WriteFile(log+".1", text, 0o600); err != nil {
		t.Fatal(err)
	}
	remove := func(id string) {
		cmd := exec.Command(asCtxls(t), "serve")
		cmd.Env = homeAt(home)
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"session/deleted","params":{"sessionId":"` + id + `"}}` + "\n")
		if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte(`"error"`)) {
			t.Fatalf("%v: %s", err, out)
		}
	}
	remove(id)
	if text, err := os.ReadFile(log); err != nil || bytes.Contains(text, []byte(id)) || !bytes.Contains(text, []byte(other)) {
		t.Errorf("the log of the other session: %v\n%s", err, text)
	}
	remove(other)
	err = filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if i := bytes.Index(data, []byte("secret-")); i >= 0 && !bytes.HasPrefix(data[i:], []byte("secret-session")) {
			t.Errorf("%s: %q", filepath.Base(path), data[i:min(len(data), i+60)])
		}
		if strings.Contains(path, "ctxls.log") && bytes.Contains(data, []byte("secret-session")) {
			t.Errorf("%s: the id", filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Three hooks run for a prompt, and each finds the problem in the workspace's settings. The log has one line about it.
func TestAProblemOfSettingsIsLoggedOnce(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "project", "deep")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "project", ".ctxls.json"), []byte(`{"levels": {"colour": 1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"UserPromptSubmit", "PostToolBatch", "Stop"} {
		cwd, _ := json.Marshal(project)
		runHook(t, home, strings.NewReader(`{"session_id":"s","hook_event_name":"`+event+`","cwd":`+string(cwd)+`}`))
	}
	log, err := os.ReadFile(filepath.Join(home, "ctxls", "ctxls.log"))
	if err != nil || bytes.Count(log, []byte("problem=")) != 1 {
		t.Errorf("%v\n%s", err, log)
	}
}
