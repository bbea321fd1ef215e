package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
	"github.com/ctxls/ctxls/internal/ui"
)

// noon is the time in tests with their own clock.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// serviceAt returns the service that a command gets in a home, with the test's clock.
func serviceAt(t testing.TB, home string, now func() time.Time) *core.Service {
	t.Helper()
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.home, a.cwd, a.environ = home, home, nil
	a.getenv = func(name string) string {
		if name == "XDG_STATE_HOME" {
			return home
		}
		return ""
	}
	s, err := a.service(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	s.Now = now
	return s
}

// placeholder is what payloads have instead of the path of the transcript.
const placeholder = "TRANSCRIPT"

// hostsOnFile are the hosts with their captured files: payloads, and records of conversations, by the pattern of their
// names.
var hostsOnFile = []struct {
	host                           session.Host
	payloads, transcripts, session string
}{
	{session.HostClaudeCode, "claudecode/testdata/payloads/*.json", "claudecode/testdata/transcripts/*.jsonl", "session.jsonl"},
	{session.HostCodex, "codex/testdata/payloads/*.json", "codex/testdata/rollouts/*.jsonl", "rollout-01a1fd86-50af-7d62-a5b8-a86dbbf4e86f.jsonl"},
	{session.HostGeminiCLI, "gemini/testdata/payloads/*.json", "gemini/testdata/transcripts/*.jsonl", "session.jsonl"},
	{"qwen-code", "qwen/testdata/payloads/*.json", "qwen/testdata/transcripts/*.jsonl", "session.jsonl"},
	{"pi", "pi/testdata/payloads/*.json", "pi/testdata/transcripts/*.jsonl", "2026-11-22T07-56-26-014Z_s.jsonl"},
	{session.HostOpenCode, "opencode/testdata/payloads/*.json", "", ""},
}

// FuzzHook gives a host's payloads and records, or hostile ones, to the whole hook on a real state. The hook accepts
// them, or refuses them with a code. Texts for the model and for users are harmless, and the session continues.
func FuzzHook(f *testing.F) {
	dir := f.TempDir()
	s := serviceAt(f, dir, func() time.Time { return noon })
	sess := 0
	named := regexp.MustCompile(`("(?:agent_)?transcript_path": *)"[^"]*"`)
	for i, h := range hostsOnFile {
		var transcripts [][]byte
		if h.transcripts != "" {
			transcripts = hosttest.Excerpts(f, "../../internal/host/"+h.transcripts)
		}
		last := ""
		for n, file := range hosttest.Glob(f, "../../internal/host/"+h.payloads) {
			event, _, _ := strings.Cut(filepath.Base(file), ".")
			payload := hosttest.ReadFile(f, file)
			if h.host == session.HostOpenCode {
				event, payload = handedOver(f, payload)
			}
			if event == last && event != "event" {
				continue // one of each is enough as a start: every seed takes time from new inputs
			}
			last = event
			if ev, err := s.Decode(h.host, event, payload); err != nil || ev.Kind == session.Seen {
				continue
			}
			var transcript []byte
			if len(transcripts) > 0 {
				transcript = transcripts[n%len(transcripts)]
			}
			f.Add(i, event, named.ReplaceAll(payload, []byte(`$1"`+placeholder+`"`)), transcript)
		}
	}
	for _, at := range []string{"9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00Z", "0000-01-01T00:00:00+12:00"} { // the limits of a time
		stop := `{"session_id":"s","transcript_path":"` + placeholder + `","hook_event_name":"Stop"}`
		f.Add(0, "", []byte(stop), []byte(fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"id":"m","role":"assistant","model":"claude-opus-4-6","content":[],"usage":{"input_tokens":1000}}}`+"\n", at)))
		f.Add(0, "", []byte(stop), []byte(fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","uuid":"b","timestamp":%q,"compactMetadata":{"trigger":"auto","preTokens":100000}}`+"\n", at)))
		f.Add(1, "", []byte(stop), []byte(fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":1000,"total_tokens":1100},"model_context_window":258400}}}`+"\n", at)))
		f.Add(2, "", []byte(strings.Replace(stop, "Stop", "AfterAgent", 1)), []byte(fmt.Sprintf(`{"id":"1","type":"gemini","timestamp":%[1]q,"tokens":{"input":100000}}`+"\n"+`{"id":"2","type":"gemini","timestamp":%[1]q,"tokens":{"input":1000}}`+"\n", at)))
	}
	f.Add(3, "event", []byte(`{"event":{"type":"message.updated","properties":{"sessionID":"s","info":{"id":"m","role":"assistant","sessionID":"s","tokens":{"total":1000,"input":1000,"output":1},
		"modelID":"m","providerID":"p","time":{"created":9007199254740991,"completed":9007199254740991},"finish":"stop"}}}}`), []byte(nil))
	events, err := txtar.ParseFile("../../internal/host/generic/testdata/events.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range events.Files {
		f.Add(len(hostsOnFile), "", file.Data, []byte(nil))
	}
	f.Fuzz(func(t *testing.T, which int, name string, payload, transcript []byte) {
		host, path := session.HostGeneric, ""
		if i := int(uint(which) % uint(len(hostsOnFile)+1)); i < len(hostsOnFile) {
			host, path = hostsOnFile[i].host, filepath.Join(dir, fmt.Sprint(os.Getpid(), hostsOnFile[i].session))
			place, _ := json.Marshal(path)
			payload = bytes.ReplaceAll(payload, []byte(`"`+placeholder+`"`), place)
			if err := os.WriteFile(path, transcript, 0o600); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(path)
		}
		refused := func(err error) bool {
			if err != nil && coded.CodeOf(err) != coded.Invalid {
				t.Fatalf("%s: %s: %v", host, coded.CodeOf(err), err)
			}
			return err != nil
		}
		sess++ // each input has its own
		var key session.Key
		for range 2 { // hosts repeat events
			ev, err := s.Decode(host, name, payload)
			if refused(err) {
				return
			}
			ev.SessionID = fmt.Sprint(sess, " ", ev.SessionID)
			out, output, err := s.Answer(t.Context(), ev)
			if refused(err) {
				return
			}
			harmless(t, host, output)
			key = out.Key
		}
		goesOn(t, s, key)
	})
}

// handedOver returns the message of OpenCode's plugin for a captured call.
func handedOver(f *testing.F, capture []byte) (event string, payload []byte) {
	var c struct {
		Hook          string
		Input, Output json.RawMessage
	}
	if err := json.Unmarshal(capture, &c); err != nil {
		f.Fatal(err)
	}
	call := map[string]json.RawMessage{"input": c.Input, "output": c.Output}
	if c.Hook == "event" {
		call = map[string]json.RawMessage{"event": c.Input}
	}
	payload, err := json.Marshal(call)
	if err != nil {
		f.Fatal(err)
	}
	return c.Hook, payload
}

// harmless checks a hook's output: it is empty, or its texts contain no control characters.
func harmless(t *testing.T, host session.Host, output []byte) {
	t.Helper()
	if len(output) == 0 {
		return
	}
	texts := []string{string(output)}
	if output[0] == '{' {
		var answer any
		hosttest.Strictly(t, output, &answer)
		texts = leaves(answer)
	} else if host != session.HostClaudeCode {
		t.Fatalf("%s is handed %q", host, output)
	}
	for _, text := range texts {
		hosttest.Said(t, text, session.MaxInjectedChars+len("\n\n"), func(rune) int { return 1 })
	}
}

// leaves returns every string of a JSON value.
func leaves(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			all = append(all, leaves(e)...)
		}
	case []any:
		for _, e := range v {
			all = append(all, leaves(e)...)
		}
	case string:
		all = []string{v}
	}
	return all
}

// goesOn checks the stored state of a session: every command can show it, and it accepts further events.
func goesOn(t *testing.T, s *core.Service, key session.Key) {
	t.Helper()
	view, err := s.Session(t.Context(), key)
	if coded.CodeOf(err) == coded.NotFound {
		return // the event had no session, or only its end
	}
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	if err := printJSON(&shown, view); err != nil {
		t.Fatal(err)
	}
	if err := ui.Sessions(&shown, []core.SessionView{view}, noon, ui.Style{}); err != nil {
		t.Fatal(err)
	}
	shown.WriteString(ui.Statusline(view, ui.StatuslineOptions{}))
	for _, name := range slices.Concat(view.WorkingSet, []string{view.Title, view.Model, view.Provider, shown.String()}) {
		if name != "" {
			hosttest.Said(t, name, 1<<20, func(rune) int { return 1 })
		}
	}
	samples, err := s.Samples(t.Context(), key, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(samples); err != nil {
		t.Fatal(err)
	}
	more := session.Event{Host: key.Host, SessionID: key.SessionID, Kind: session.PromptSubmitted, Name: "more", Prompt: "go on", Accepts: []session.EffectKind{session.Inject}}
	out, err := s.Handle(t.Context(), more)
	if err != nil {
		t.Fatalf("the session does not go on: %v", err)
	}
	for _, effect := range out.Effects {
		hosttest.Said(t, effect.Text, session.MaxInjectedChars, func(rune) int { return 1 })
	}
}
