package gemini

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/session"
)

// What is visited of transcripts that were not captured, newest first: the host's source says how it writes and reads them.
func TestScanLines(t *testing.T) {
	const (
		begin  = `{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>"}]}]}}`
		ask    = `{"id":"u1","type":"user","content":[{"text":"one"}]}`
		first  = `{"id":"g1","timestamp":"2026-11-21T10:00:01Z","type":"gemini","content":"A.","tokens":{"input":100,"output":9}}`
		again  = `{"id":"u2","type":"user","content":"two"}`
		second = `{"id":"g2","timestamp":"2026-11-21T10:00:02Z","type":"gemini","content":"B.","tokens":{"input":200,"output":9}}`
	)
	for _, tt := range []struct {
		name, want string
		lines      []string
	}{
		{"two turns", "200 answer=B. | prompt=two | 100 answer=A. | prompt=one | injected=<session_context>", []string{begin, ask, first, again, second}},
		{"what was written last holds", "100 answer=A. call:read_file:/p/a.go={\"file_path\":\"/p/a.go\"} | prompt=one | injected=<session_context>", []string{
			begin, ask, first, `{"$set":{"lastUpdated":"x"}}`,
			`{"id":"g1","timestamp":"2026-11-21T10:00:01Z","type":"gemini","content":"A.","tokens":{"input":100,"output":9},` +
				`"toolCalls":[{"id":"t","name":"read_file","args":{"file_path":"/p/a.go"},"result":[{"functionResponse":{}}]}]}`}},
		{"taken back: the figures are of another window", "answer=A. | prompt=one | injected=<session_context>", []string{begin, ask, first, again, second, `{"$rewindTo":"u2"}`}},
		{"taken back, and answered since", "300 answer=C. | prompt=three | 100 answer=A. | prompt=one | injected=<session_context>", []string{
			begin, ask, first, again, second, `{"$rewindTo":"u2"}`, `{"id":"u3","type":"user","content":"three"}`,
			`{"id":"g3","timestamp":"2026-11-21T10:00:03Z","type":"gemini","content":"C.","tokens":{"input":300,"output":9}}`}},
		{"taken back twice", "injected=<session_context>", []string{begin, ask, first, again, second, `{"$rewindTo":"u2"}`, `{"$rewindTo":"u1"}`}},
		{"taken back into a list", "prompt=p", []string{
			begin, `{"$set":{"messages":[{"id":"a","type":"user","content":"p"},{"id":"b","type":"gemini","content":"q"}]}}`, ask, `{"$rewindTo":"b"}`}},
		{"taken back to what is unknown", "", []string{begin, ask, first, `{"$rewindTo":"zzz"}`}},
		{"a history that was written anew", "200 answer=B. | prompt=two | call:write_file:a={\"file_path\":\"a\"} | summary=<state_snapshot>s</state_snapshot>", []string{
			begin, ask, first,
			`{"$set":{"messages":[{"id":"s","type":"user","content":[{"text":"<state_snapshot>s</state_snapshot>"}]},` +
				`{"id":"g1","timestamp":"2026-11-21T10:00:01Z","type":"gemini","content":[{"text":"hm","thought":true},{"functionCall":{"id":"t","name":"write_file","args":{"file_path":"a"}}}],` +
				`"tokens":{"input":100,"output":9},"toolCalls":[{"id":"t","name":"write_file","args":{"file_path":"a"}}]}]}}`, again, second}},
		{"files that a prompt names", "prompt=see @a.go injected=--- Content from referenced files --- injected::a.go=\nContent from @a.go:\n injected::a.go=package a " +
			"injected=\n--- End of content --- injected=<hook_context>h</hook_context>", []string{
			`{"id":"u","type":"user","content":[{"text":"see @a.go"},{"text":"\n--- Content from referenced files ---"},{"text":"\nContent from @a.go:\n"},` +
				`{"text":"package a"},{"text":"\n--- End of content ---"},{"text":"<hook_context>h</hook_context>"}]}`}},
		{"results", "result:see={\"x\":[1]} image result:run=failed", []string{
			`{"id":"u","type":"user","content":[{"functionResponse":{"id":"1","name":"see","response":{"x":[1]},"parts":[{"inlineData":{"data":"QQ=="}}]}},` +
				`{"functionResponse":{"id":"2","name":"run","response":{"error":"failed"}}}]}`}},
		{"notes, and what is no message", "image", []string{
			`{"id":"i","type":"info","content":"Request cancelled."}`, `{"id":7}`, `[]`, `nonsense`, `{"id":"u","type":"user","content":[{"fileData":{}},{"text":""}]}`}},
	} {
		file := filepath.Join(t.TempDir(), "session.jsonl")
		if err := os.WriteFile(file, []byte(strings.Join(tt.lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := New(nil).Scan(t.Context(), file, func(int64, int64) {}, func(e session.Entry) bool {
			var words []string
			if e.Report != nil {
				words = append(words, fmt.Sprint(e.Report.Tokens))
			}
			for _, p := range e.Content {
				word := string(p.Class)
				if p.Tool != "" || p.Path != "" {
					word += ":" + p.Tool
				}
				if p.Path != "" {
					word += ":" + p.Path
				}
				if p.Text != "" {
					word += "=" + p.Text
				}
				words = append(words, word)
			}
			got = append(got, strings.Join(words, " "))
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " | ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A scan ends where the visitor has enough, also within a list.
func TestScanStops(t *testing.T) {
	visited := 0
	if err := New(nil).Scan(t.Context(), "testdata/transcripts/session-compressed.jsonl", func(int64, int64) {}, func(session.Entry) bool {
		visited++
		return visited < 4
	}); err != nil || visited != 4 {
		t.Errorf("%d visits, %v; want 4", visited, err)
	}
}
