package test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// An editor sees a session that exists only as a record: each response, and the change to a session with hooks, without
// a change of the figure.
func TestRecordsReachEditors(t *testing.T) {
	bin, home := buildAll(t), t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-home-dev-project")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../internal/host/claudecode/testdata/transcripts/basic.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	e := startEditor(t, bin, home)
	const id = "c203db13-d26b-4b5a-9d0b-5b7c2e1f9a11"
	record, err := os.Create(filepath.Join(dir, id+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer record.Close()
	responses := 0
	for line := range bytes.Lines(data) {
		if _, err := record.Write(line); err != nil {
			t.Fatal(err)
		}
		want, reported := usageOf(t, line)
		if !reported {
			continue
		}
		responses++
		e.await(t, id, func(s recordedSession) bool { return s.Usage.Tokens == want && s.Source == "record" })
	}
	if responses < 3 {
		t.Fatalf("the transcript has %d responses, want more", responses)
	}
	before := e.session(id)
	payload, err := json.Marshal(map[string]string{"session_id": id, "hook_event_name": "Stop", "transcript_path": record.Name(), "cwd": before.CWD})
	if err != nil {
		t.Fatal(err)
	}
	hook := exec.Command(filepath.Join(bin, "ctxls"), "hook", "claude-code")
	hook.Env = environment(home)
	hook.Stdin = bytes.NewReader(payload)
	if out, err := hook.CombinedOutput(); err != nil {
		t.Fatalf("hook: %v\n%s", err, out)
	}
	e.await(t, id, func(s recordedSession) bool { return s.Source == "hooks" })
	if after := e.session(id); after.Usage.Tokens != before.Usage.Tokens || after.Usage.WindowTokens != before.Usage.WindowTokens || after.Model != before.Model {
		t.Errorf("the hook changed %+v to %+v", before, after)
	}
}

// recordedSession has the members of a session that the test looks at.
type recordedSession struct {
	CWD, Model, Source string
	Usage              struct{ Tokens, WindowTokens int }
}

func (e *editor) session(id string) (s recordedSession) {
	e.mu.Lock()
	defer e.mu.Unlock()
	json.Unmarshal(e.last[id], &s)
	return s
}

// await waits for the notification that the test needs.
func (e *editor) await(t *testing.T, id string, ok func(recordedSession) bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(e.session(id)); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the editor was told %+v last", e.session(id))
		}
	}
}

// usageOf returns the occupancy in a line of a transcript.
func usageOf(t *testing.T, line []byte) (tokens int, ok bool) {
	t.Helper()
	var l struct {
		Type    string
		Message struct {
			Usage struct {
				Input  int `json:"input_tokens"`
				Write  int `json:"cache_creation_input_tokens"`
				Cached int `json:"cache_read_input_tokens"`
			}
		}
	}
	if json.Unmarshal(line, &l) != nil || l.Type != "assistant" {
		return 0, false
	}
	u := l.Message.Usage
	return u.Input + u.Write + u.Cached, u.Input+u.Write+u.Cached > 0
}
