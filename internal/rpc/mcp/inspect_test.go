package mcp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/text"
)

// inspection returns the data of an answer.
func (a answer) inspection(t testing.TB) (in core.Inspection) {
	t.Helper()
	if err := json.Unmarshal(a.Result.StructuredContent, &in); err != nil {
		t.Fatalf("%v in %+v", err, a)
	}
	return in
}

// data returns what an answer that is no error holds beside its text.
func (a answer) data(t testing.TB) string {
	t.Helper()
	if a.Result.IsError || a.Result.StructuredContent == nil {
		t.Fatalf("no data: %s", a.text())
	}
	return string(a.Result.StructuredContent)
}

// own returns the id of the session that an answer calls the caller's own, "" for none.
func (a answer) own(t testing.TB) string {
	t.Helper()
	if in := a.inspection(t); in.Session != nil {
		return in.Session.SessionID
	}
	return ""
}

// What is returned is what the domain says, and the text says the same in words.
func TestInspect(t *testing.T) {
	s := newService(t)
	reported(t, s, "s2", "/home/me/b", 20_000)
	told(t, s, `{"session_id":"s1","cwd":"/home/me/a","hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Read","tool_input":{"file_path":"/home/me/a/main.go"}}]}`)
	reported(t, s, "s1", "/home/me/a", 144_000)
	for i, tokens := range []int{100_000, 250_000} {
		if _, _, err := s.RecordTask(t.Context(), fmt.Sprint(i), tokens); err != nil {
			t.Fatal(err)
		}
	}
	p := connect(t, Options{Service: s, Folders: []string{"/home/me/a"}})
	p.greet("{}")
	a := p.call("inspect_state", "{}")

	in, err := s.Inspect(t.Context(), core.Caller{Folders: []string{"/home/me/a"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, a.inspection(t), cmpopts.EquateEmpty()); diff != "" || in.Session == nil || in.Session.SessionID != "s1" {
		t.Errorf("the data is not what the domain says (-want +got):\n%s", diff)
	}
	want := `This session: claude-code s1, model claude-sonnet-4-6, active, in /home/me/a
  in the window: 144,000 of 200,000 tokens (72%), as reported (host), as of 2026-11-21T12:00:00Z
  size of the window: the host says so
  with what came since: about 144,007, from 143,981 to 144,258 (an estimate)
  until the host compacts: 22,993 tokens (at 167,000)
  files in use, the latest first: main.go

Other sessions on this machine:
  claude-code s2, model claude-sonnet-4-6, active, in /home/me/b: 20,000 of 200,000 tokens (10%), as reported (host), as of 2026-11-21T12:00:00Z

Last 2 tasks of all sessions: 50.0% above 200,000 tokens; 175,000 on average, half at most 100,000, 90% at most 250,000, the largest 250,000; 0 trims saved 0.`
	for _, dir := range []string{"/home/me/a", "/home/me/b"} {
		want = strings.ReplaceAll(want, dir, filepath.FromSlash(dir))
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(a.text(), "\n")); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// Nothing that a host, a file name or a session's id holds reaches the model as it is.
func TestWhatTheModelReadsIsSanitised(t *testing.T) {
	s := newService(t)
	evil := "\x1b]0;x\x07\n\u202eevil\u2028\u200b"
	raw, _ := json.Marshal(evil)
	told(t, s, fmt.Sprintf(`{"session_id":%[1]s,"cwd":%[1]s,"hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Read","tool_input":{"file_path":%[1]s}}]}`, raw))
	told(t, s, fmt.Sprintf(`{"session_id":"s1","cwd":"/home/me/a/%s","hook_event_name":"SubagentStart","agent_id":%s,"agent_type":%[2]s}`, strings.Trim(string(raw), `"`), raw))
	told(t, s, fmt.Sprintf(`{"session_id":"s1","cwd":"/home/me/a","hook_event_name":"SessionStart","source":"startup","model":%s}`, raw))
	told(t, s, `{"session_id":"s1","cwd":"/home/me/a","hook_event_name":"StopFailure","error_details":"prompt is too long: 210000 tokens > 190000 maximum"}`)
	p := connect(t, Options{Service: s, Folders: []string{"/home/me/a"}})
	p.greet("{}")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"inspect_state"}}`)
	line := p.receive()
	if !strings.Contains(line, "evil") || strings.Count(line, "learned") == 0 {
		t.Fatalf("there is nothing to sanitise: %s", line)
	}
	var everything any
	if err := json.Unmarshal([]byte(line), &everything); err != nil {
		t.Fatal(err)
	}
	var check func(v any)
	check = func(v any) {
		switch v := v.(type) {
		case string:
			for l := range strings.SplitSeq(v, "\n") { // the text has lines of its own
				if l != text.Sanitize(l, 0) || strings.HasPrefix(strings.TrimSpace(l), "evil") {
					t.Errorf("the model reads %q", l)
				}
			}
		case []any:
			for _, e := range v {
				check(e)
			}
		case map[string]any:
			for k, e := range v {
				check(k)
				check(e)
			}
		}
	}
	check(everything)
	if bad := p.call("measure_context", `{"text":`+string(raw)+`,"model":`+string(raw)+`,"encoding":`+string(raw)+`}`).text(); bad != text.Sanitize(bad, 0) {
		t.Errorf("an error says %q", bad)
	}
}

// A machine with many sessions does not fill the window that the tool tells of.
func TestFewSessionsAreReturned(t *testing.T) {
	s := newService(t)
	for i := range 30 {
		reported(t, s, fmt.Sprint("s", i), fmt.Sprintf("/home/me/%d", i), 1000)
	}
	p := connect(t, Options{Service: s, Folders: []string{"/home/me/3"}})
	p.greet("{}")
	for arguments, want := range map[string]int{`{}`: defaultSessions, `{"limit":1}`: 1, `{"limit":100}`: 30} {
		a := p.call("inspect_state", arguments)
		in := a.inspection(t)
		if len(in.Sessions) != want || in.OmittedSessions != 30-want || a.own(t) != "s3" {
			t.Errorf("%s: %d sessions, %d more, own %q", arguments, len(in.Sessions), in.OmittedSessions, a.own(t))
		}
		if !slices.ContainsFunc(in.Sessions, func(v core.SessionView) bool { return v.SessionID == "s3" }) {
			t.Errorf("%s: the caller's own is not among them", arguments)
		}
		if more := strings.Contains(a.text(), "more; limit"); more != (want < 30) {
			t.Errorf("%s: %s", arguments, a.text())
		}
		if size := len(a.text()) + len(a.Result.StructuredContent); want == defaultSessions && size > 16_000 { // some 4,000 tokens
			t.Errorf("%d bytes are returned", size)
		}
	}
}

// Two sessions in one folder are told apart by the process that runs them.
func TestTheCallersOwnSession(t *testing.T) {
	s := newService(t)
	pid := func(n int) { s.Adapters = adaptersOf(n) }
	pid(4711)
	reported(t, s, "by pid", "/home/me/a", 1000)
	pid(4712)
	reported(t, s, "later, in the folder", "/home/me/a/b", 1000)
	for _, test := range []struct {
		host    int
		folders []string
		want    string
	}{
		{4711, []string{"/home/me/a"}, "by pid"},
		{4711, nil, "by pid"},
		{4712, []string{"/home/me/a"}, "later, in the folder"},
		{1, []string{"/home/me/a"}, "later, in the folder"},
		{0, []string{"/home/me"}, "later, in the folder"},
		{0, []string{"/home/me/ab"}, ""},
		{0, nil, ""},
	} {
		p := connect(t, Options{Service: s, Folders: test.folders, HostPID: test.host})
		p.greet("{}")
		if got := p.call("inspect_state", "{}").own(t); got != test.want {
			t.Errorf("host %d, folders %q: %q, want %q", test.host, test.folders, got, test.want)
		}
	}
}
