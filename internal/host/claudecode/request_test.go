package claudecode

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/hosttest"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

func toolNames(r *session.RequestRecord) (names, unused []string) {
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
		if !r.Called[tool.Name] {
			unused = append(unused, tool.Name)
		}
	}
	return names, unused
}

// testdata/requests holds the request records of an interactive session of version 2.1.329, whose texts are cut where it says so.
func TestLastRequest(t *testing.T) {
	r, err := New(nil).LastRequest(t.Context(), "testdata/requests/interactive.jsonl")
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	names, unused := toolNames(r)
	if want := "Agent AskUserQuestion Bash Edit ListAgents Read ReportFindings ScheduleWakeup Skill ToolSearch Workflow DeferredToolPlaceholder Write"; strings.Join(names, " ") != want {
		t.Errorf("tools %q", names)
	}
	if want := "Agent AskUserQuestion ListAgents ReportFindings ScheduleWakeup Skill ToolSearch Workflow DeferredToolPlaceholder"; strings.Join(unused, " ") != want {
		t.Errorf("never called: %q", unused)
	}
	if r.Version != "2.1.329" || len(r.System) != 2 || !strings.HasPrefix(r.System[0], "You are Claude Code, ") || r.At.IsZero() {
		t.Errorf("%s, %s, system prompt %q", r.Version, r.At, r.System)
	}
	data := hosttest.ReadFile(t, "testdata/requests/interactive.jsonl")
	for _, tool := range r.Tools {
		if !bytes.Contains(data, []byte(tool.JSON)) {
			t.Errorf("%s is not as it was sent: %s", tool.Name, tool.JSON)
		}
	}
}

func TestNoRequest(t *testing.T) {
	shape := `{"type":"api-request-shape","shapeHash":"a","shape":{"system":[{"type":"text","text":"x"}],"tools":[{"name":"T"}]}}`
	for name, text := range map[string]string{
		"nothing recorded":        prompt + "\n",
		"a shape without request": shape + "\n",
		"of a sub-agent":          shape + "\n" + `{"type":"api-request","querySource":"agent:builtin:Explore","shapeHash":"a"}` + "\n",
		"another shape":           shape + "\n" + `{"type":"api-request","querySource":"sdk","shapeHash":"b"}` + "\n",
		"an empty shape":          `{"type":"api-request-shape","shapeHash":"a","shape":{}}` + "\n" + `{"type":"api-request","querySource":"sdk","shapeHash":"a"}` + "\n",
		"a prompt that quotes it": `{"type":"user","message":{"content":"\"api-request\""},"shapeHash":"a"}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := New(nil).LastRequest(t.Context(), path); r != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// A long session refers to a shape that was written when it began. What was called so long ago is not known.
func TestLastRequestOfLongTranscript(t *testing.T) {
	records := hosttest.ReadFile(t, "testdata/requests/interactive.jsonl")
	lines := bytes.SplitAfter(records, []byte("\n"))
	last := slices.IndexFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"type":"api-request",`)) })
	filler := []byte(`{"type":"user","message":{"content":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n")
	text := slices.Concat(records, bytes.Repeat(filler, transcript.ReachBytes>>20+1), lines[last])
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := New(nil).LastRequest(t.Context(), path)
	if err != nil || r == nil || len(r.Tools) != 13 || r.Called != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestLastRequestOfProject(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-home-dev-my-project")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), hosttest.ReadFile(t, "testdata/requests/interactive.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	records := NewRecords(host.Env{Getenv: func(string) string { return "" }, Home: home})
	if r, err := records.LastRequest(t.Context(), "/home/dev/my.project"); err != nil || r == nil || len(r.Tools) != 13 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := records.LastRequest(t.Context(), "/home/dev/other"); err != nil || r != nil {
		t.Errorf("of another project: %+v, %v", r, err)
	}
}

// Whatever a transcript holds, its reader ends, stays within its bounds, and returns parts of the text.
func FuzzLastRequest(f *testing.F) {
	for _, piece := range hosttest.Excerpts(f, "testdata/transcripts/*.jsonl") {
		f.Add(piece)
	}
	f.Add([]byte(`{"type":"api-request-shape","shapeHash":"a","shape":{"system":"x","tools":[{"name":"\u202e"},3,null]}}` + "\n" + `{"type":"api-request","querySource":"sdk","shapeHash":"a"}` + "\n"))
	path := filepath.Join(f.TempDir(), "s.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := New(nil).LastRequest(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			return
		}
		if len(r.Tools) > maxRequestTools || len(r.System)+len(r.Tools) == 0 {
			t.Errorf("%d tools, %d texts", len(r.Tools), len(r.System))
		}
		for _, tool := range r.Tools {
			if tool.Name == "" || !bytes.Contains(text, []byte(tool.JSON)) {
				t.Errorf("tool %q: %q", tool.Name, tool.JSON)
			}
		}
	})
}
