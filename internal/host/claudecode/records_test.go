package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/shared"
)

// The files of running processes say whether one runs the session. Beside them lie files with keys, under names that begin alike.
func TestSecretsBesideProcessFilesAreNotOpened(t *testing.T) {
	home := t.TempDir()
	records := NewRecords(host.Env{Getenv: func(string) string { return "" }, Home: home})
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(home, ".claude", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("projects/-w/s1.jsonl", prompt+"\n")
	rec := core.Record{Key: session.Key{Host: Name, SessionID: "s1"}, Path: filepath.Join(home, ".claude", "projects", "-w", "s1.jsonl")}
	want := func(when string, pid int) {
		t.Helper()
		if got := records.running(t.Context(), rec, "/w"); got != pid {
			t.Errorf("%s: process %d, want %d", when, got, pid)
		}
	}
	want("a version without such files", 0)
	write("sessions/77.deadbeef.key", `{"pid":77,"sessionId":"s1"}`)
	write("sessions/77.deadbeef.json", `{"pid":77,"sessionId":"s1"}`)
	write("sessions/key.json", `{"pid":77,"sessionId":"s1"}`)
	want("no file of a process", session.NoProcess)
	write("sessions/76.json", `{"pid":76,"sessionId":"s2","cwd":"/v"}`)
	want("another directory", session.NoProcess)
	write("sessions/75.json", `{"pid":75,"sessionId":"s3","cwd":"/w"}`)
	want("another session of the directory", 0)
	write("sessions/78.json", `{"pid":78,"sessionId":"s1"}`)
	want("the session's", 78)
}

// A process that was killed leaves its file behind, and its number goes to another program.
func TestAProcessWithTheNumberOfAnother(t *testing.T) {
	home, self := t.TempDir(), os.Getpid()
	start := shared.ProcessStart(self)
	if start == "" {
		t.Skip("this system does not say when a process started")
	}
	dir := filepath.Join(home, ".claude")
	for _, name := range []string{"projects/-w", "sessions"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	records := NewRecords(host.Env{Getenv: func(string) string { return "" }, Home: home})
	rec := core.Record{Key: session.Key{Host: Name, SessionID: "s1"}, Path: filepath.Join(dir, "projects", "-w", "s1.jsonl")}
	for written, want := range map[string]int{start: self, "1" + start: session.NoProcess, "": self} {
		text := fmt.Sprintf(`{"pid":%d,"sessionId":"s1","procStart":%q}`, self, written)
		if err := os.WriteFile(filepath.Join(dir, "sessions", strconv.Itoa(self)+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if pid := records.running(t.Context(), rec, "/w"); pid != want {
			t.Errorf("started at %q: process %d, want %d", written, pid, want)
		}
	}
}

// A record is the same session as the hooks told, whatever part of its lines was written last.
func TestTurnsOfARecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	lines := prompt + "\n" + answer("msg_1", 1000, 1, "tool_use", call) + "\n" + answer("msg_2", 3000, 1, "end_turn", textBlock) + "\n" +
		`{"isSidechain":false,"type":"user","message":{"role":"user","content":"<command-name>/compact</command-name>"},"uuid":"c"}` + "\n" +
		`{"isSidechain":false,"isMeta":true,"type":"user","message":{"role":"user","content":"a reminder"},"uuid":"m"}` + "\n" +
		// The type of a line may stand behind its message, and other types in it.
		`{"isSidechain":false,"message":{"role":"user","content":"hello"},"type":"user","uuid":"u"}` + "\n" +
		answer("msg_3", 5000, 1, "tool_use", `{"type":"tool_use","id":"t3","name":"X","input":{"type":"user","usage":{}}}`) + "\n"
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	turns, err := Records{}.Turns(t.Context(), core.Record{Path: path})
	if err != nil || len(turns) != 2 || turns[0].Tokens != 3912 || turns[1].Tokens != 5912 {
		t.Errorf("turns: %+v, %v", turns, err)
	}
	for _, brief := range []bool{true, false} {
		events, err := Records{}.Read(t.Context(), core.Record{Key: session.Key{Host: Name, SessionID: "s1"}, Path: path, ModTime: time.Now()}, brief)
		if err != nil {
			t.Fatal(err)
		}
		began, reports := 0, 0
		for _, e := range events[1].Reading.Entries {
			if e.Turn != nil {
				began++
			}
			if e.Report != nil {
				reports++
			}
		}
		if began != 2 || reports != 3 {
			t.Errorf("brief %v: %d turns and %d reports, want 2 and 3", brief, began, reports)
		}
	}
}
