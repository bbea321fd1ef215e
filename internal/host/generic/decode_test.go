package generic

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// Every event of the vocabulary, and what it is decoded to.
func TestDecode(t *testing.T) {
	events, err := txtar.ParseFile("testdata/events.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	seen := map[string]bool{}
	for _, file := range events.Files {
		ev, err := New().Decode("", file.Data)
		if err != nil {
			t.Errorf("%s: %v", file.Name, err)
		}
		seen[ev.Name] = true
		fmt.Fprintf(&got, "-- %s --\n%s\n", file.Name, hosttest.Show(t, ev))
	}
	hosttest.Golden(t, "testdata/events.golden", got.Bytes())
	for _, o := range occurrences {
		if !seen[o.name] {
			t.Errorf("no example of %s", o.name)
		}
	}
}

const (
	names  = "session/started, session/ended, session/deleted, prompt, tool/started, tool/finished, turn/finished, usage/reported, compaction/opening, compaction/done, handoff/completed, history"
	common = "version, event, sessionId, cwd, title, model, provider, hostPid, agentId, agentType, windowTokens, maxInputTokens, maxOutputTokens, accepts"
)

// Whatever is wrong is said with its place and what is allowed there.
func TestErrors(t *testing.T) {
	for _, tt := range []struct{ payload, want string }{
		{``, "payload: want a JSON object"},
		{`[]`, "payload: want a JSON object"},
		{`{"event": "prompt"`, "payload: want a JSON object"},
		{`{"event": "prompt", "x": {]}}`, "payload: want a JSON object"},
		{`{}`, "event: required, want one of " + names},
		{`{"sessionId": "s"}`, "event: required, want one of " + names},
		{`{"event": "promt", "sessionId": "s"}`, `event: want one of ` + names + `, got "promt"`},
		{`{"event": 7, "sessionId": "s"}`, `event: want one of ` + names + `, got 7`},
		{`{"event": "prompt"}`, "sessionId: required, want a string of 1 to 256 characters"},
		{`{"event": "prompt", "sessionId": ""}`, `sessionId: want a string of 1 to 256 characters, got ""`},
		{`{"event": "prompt", "sessionId": null}`, "sessionId: required, want a string of 1 to 256 characters"},
		{`{"event": "prompt", "sessionId": "` + strings.Repeat("x", 257) + `"}`, `sessionId: want a string of 1 to 256 characters, got "` + strings.Repeat("x", 58) + "…"},
		{`{"event": "handoff/completed", "sessionID": "s"}`, "sessionID: no such member of handoff/completed; it takes " + common},
		{`{"event": "prompt", "sessionId": "s", "tokens": 7}`, "tokens: no such member of prompt; it takes " + common + ", text, machine, paths"},
		{`{"event": "prompt", "sessionId": "s", "\u001b[2J": 7}`, " [2J: no such member of prompt; it takes " + common + ", text, machine, paths"},
		{`{"Event": "prompt", "sessionId": "s"}`, "Event: no such member of an event; it takes " + common + ", text, machine, tool, callId, input, output, failed, paths, " +
			"tokens, outputTokens, cacheReadTokens, cacheWriteTokens, compactionId, preTokens, postTokens, summary, messages"},
		{`{"event": "session/deleted", "sessionId": "s", "agentId": "a"}`, "agentId: no such member of session/deleted; it takes " + strings.Replace(common, "agentId, agentType, ", "", 1)},
		{`{"event": "prompt", "sessionId": "s", "version": 2}`, "version: want 1, got 2"},
		{`{"event": "prompt", "sessionId": "s", "windowTokens": 0}`, "windowTokens: want a whole number from 1 to 2147483647, got 0"},
		{`{"event": "usage/reported", "sessionId": "s"}`, "tokens: required, want a whole number from 1 to 2147483647"},
		{`{"event": "usage/reported", "sessionId": "s", "tokens": "many"}`, `tokens: want a whole number from 1 to 2147483647, got "many"`},
		{`{"event": "usage/reported", "sessionId": "s", "tokens": 1.5}`, "tokens: want a whole number from 1 to 2147483647, got 1.5"},
		{`{"event": "usage/reported", "sessionId": "s", "tokens": 1e300}`, "tokens: want a whole number from 1 to 2147483647, got 1e300"},
		{`{"event": "usage/reported", "sessionId": "s", "tokens": 5, "cacheReadTokens": 900}`, "tokens: want all that the model was given, at least the 900 that went through a cache, got 5"},
		{`{"event": "prompt", "sessionId": "s", "machine": "yes"}`, `machine: want true or false, got "yes"`},
		{`{"event": "prompt", "sessionId": "s", "accepts": ["inject", "shout"]}`, `accepts[1]: want one of inject, appendToolOutput, compactionContext, got "shout"`},
		{`{"event": "prompt", "sessionId": "s", "accepts": [["inject"]]}`, "accepts[0]: want one of inject, appendToolOutput, compactionContext, got a list"},
		{`{"event": "prompt", "sessionId": "s", "accepts": "inject"}`, `accepts: want a list of inject, appendToolOutput, compactionContext, got "inject"`},
		{`{"event": "prompt", "sessionId": "s", "paths": {}}`, `paths: want a list of objects such as {"path": "a.ts", "use": "edited"}, got an object`},
		{`{"event": "prompt", "sessionId": "s", "paths": [{"path": "a", "use": "read"}, 7]}`, `paths[1]: want an object such as {"path": "a.ts", "use": "edited"}, got 7`},
		{`{"event": "prompt", "sessionId": "s", "paths": [{"path": "a", "use": "eaten"}]}`, `paths[0].use: want one of mentioned, read, edited, got "eaten"`},
		{`{"event": "prompt", "sessionId": "s", "paths": [{"path": "a"}]}`, "paths[0].use: required, want one of mentioned, read, edited"},
		{`{"event": "prompt", "sessionId": "s", "paths": [{"file": "a"}]}`, "paths[0].file: no such member of prompt; it takes path, use"},
		{`{"event": "history", "sessionId": "s", "messages": [{"role": "robot", "text": "x"}]}`, `messages[0].role: want one of user, assistant, tool, got "robot"`},
	} {
		_, err := New().Decode("", []byte(tt.payload))
		if err == nil || coded.CodeOf(err) != coded.Invalid || err.Error() != tt.want {
			t.Errorf("%s\n got: %v\nwant: %s", tt.payload, err, tt.want)
		}
	}
}

// A name that is told beside the payload counts where the payload has none.
func TestNameBesideThePayload(t *testing.T) {
	ev, err := New().Decode("handoff/completed", []byte(`{"sessionId": "s"}`))
	if err != nil || ev.Kind != session.HandoffCompleted || ev.Name != "handoff/completed" {
		t.Errorf("%+v, %v", ev, err)
	}
	ev, err = New().Decode("handoff/completed", []byte(`{"sessionId": "s", "event": "prompt"}`))
	if err != nil || ev.Kind != session.PromptSubmitted {
		t.Errorf("%+v, %v", ev, err)
	}
	if _, err = New().Decode("nonsense", []byte(`{"sessionId": "s"}`)); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("an unknown name: %v", err)
	}
}

// The answer is one line of JSON, whatever the texts hold, and what is in it can do no harm to whom it is shown.
func TestEncode(t *testing.T) {
	out, err := New().Encode(session.Event{}, []session.Effect{
		{Kind: session.Inject, Text: "[context used: 72%]\n<b>\u2028\x1b[31m"}, {Kind: session.CompactionContext, Lines: []string{"a", "b"}}, {Kind: session.Inject, Text: " \u200b\n"},
	})
	want := `{"version":1,"effects":[{"kind":"inject","text":"[context used: 72%]\n<b>  [31m"},{"kind":"compactionContext","lines":["a","b"]}]}` + "\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n got %s\nwant %s", err, out, want)
	}
	if out, _ := New().Encode(session.Event{}, nil); string(out) != `{"version":1,"effects":[]}`+"\n" {
		t.Errorf("nothing to do: %s", out)
	}
}

// No payload, however odd, does more than fail with a code, and whatever there is to say in return, the agent is handed one line of
// JSON with texts that can do no harm.
func FuzzDecode(f *testing.F) {
	events, err := txtar.ParseFile("testdata/events.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range events.Files {
		f.Add("", file.Data, "[context used: 72%]")
	}
	f.Add("prompt", []byte(`{"sessionId":"\ud83d","text":"\u0000","accepts":[null]}`), "\x1b]0;x\a\u202e\u2028\nline\n")
	f.Fuzz(func(t *testing.T, name string, payload []byte, text string) {
		ev, err := New().Decode(name, payload)
		if !hosttest.Decoded(t, Name, ev, err) {
			return
		}
		out, err := New().Encode(ev, hosttest.Effects(text))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Version int `json:"version"`
			Effects []struct {
				Kind  session.EffectKind `json:"kind"`
				Text  string             `json:"text"`
				Lines []string           `json:"lines"`
			} `json:"effects"`
		}
		hosttest.Strictly(t, out, &answer)
		if answer.Version != Version || answer.Effects == nil {
			t.Fatalf("answered %q", out)
		}
		for _, e := range answer.Effects {
			said := e.Text
			if e.Kind == session.CompactionContext {
				said = strings.Join(e.Lines, "\n")
			}
			hosttest.Said(t, said, session.MaxInjectedChars, func(rune) int { return 1 })
		}
	})
}
