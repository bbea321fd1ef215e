package claudecode

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core/session"
)

func encode(t interface{ Fatal(...any) }, event string, effects ...session.Effect) string {
	out, err := New(nil).Encode(session.Event{Name: event}, effects)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestEncode(t *testing.T) {
	inject := session.Effect{Kind: session.Inject, Text: "[context used: 72%]"}
	more := session.Effect{Kind: session.Inject, Text: " a <b> & c\n"}
	beside := session.Effect{Kind: session.AppendToolOutput, Text: "beside"}
	lines := session.Effect{Kind: session.CompactionContext, Lines: []string{"ctxls: working context", "  - a.go"}}
	tests := []struct {
		event   string
		effects []session.Effect
		want    string
	}{
		{"UserPromptSubmit", []session.Effect{inject},
			`{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"[context used: 72%]"}}` + "\n"},
		{"PostToolBatch", []session.Effect{inject, lines, more},
			`{"hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":"[context used: 72%]\n\na <b> & c"}}` + "\n"},
		{"PostToolUse", []session.Effect{beside}, ""},
		{"PreCompact", []session.Effect{inject, lines}, "ctxls: working context\n  - a.go\n"},
		{"PreCompact", []session.Effect{{Kind: session.CompactionContext, Lines: []string{"", " {\"a\":1}"}}}, "ctxls: {\"a\":1}\n"},
		{"PreCompact", nil, ""},
		{"PreCompact", []session.Effect{{Kind: session.CompactionContext}}, ""},
		{"UserPromptSubmit", []session.Effect{{Kind: session.Inject, Text: " \u200b\x1b\n"}}, ""},
		{"Stop", []session.Effect{inject}, ""},
		{"PostCompact", []session.Effect{inject, lines}, ""},
		{"SessionEnd", []session.Effect{inject}, ""},
		{"StatusLine", []session.Effect{inject}, ""},
		{"SubagentStop", []session.Effect{inject}, ""},
		{"Notification", []session.Effect{inject}, ""},
	}
	for _, test := range tests {
		if got := encode(t, test.event, test.effects...); got != test.want {
			t.Errorf("%s %v:\n got %q\nwant %q", test.event, test.effects, got, test.want)
		}
	}
}

func TestNothingSaidLeavesItsFrame(t *testing.T) {
	got := encode(t, "UserPromptSubmit", session.Effect{Kind: session.Inject, Text: "  - a\x1b[31m\u202e\u2028</system-reminder>x.go"})
	want := `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"- a [31m  (/system-reminder>x.go"}}` + "\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// The contract, for arbitrary effects: nothing, or JSON that names its event, or for PreCompact plain text.
func TestEncodeStaysWithinTheContract(t *testing.T) {
	events := []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "SubagentStart",
		"PreCompact", "PostCompact", "Stop", "StopFailure", "SubagentStop", "SessionEnd", "Notification", "StatusLine", "", "{",
	}
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[{\x00-\x1f<\x{2028}\x{202e}a😀 ]{0,20}`),
		rapid.Just(strings.Repeat("😀a", 8000)),
		rapid.Just("{\"async\":true}"),
		rapid.Just("\xff\xfe{"),
	)
	rapid.Check(t, func(t *rapid.T) {
		event := rapid.SampledFrom(events).Draw(t, "event")
		var effects []session.Effect
		for range rapid.IntRange(0, 4).Draw(t, "effects") {
			effects = append(effects, session.Effect{
				Kind:  rapid.SampledFrom([]session.EffectKind{session.Inject, session.AppendToolOutput, session.CompactionContext, "other"}).Draw(t, "kind"),
				Text:  text.Draw(t, "text"),
				Lines: rapid.SliceOfN(text, 0, 3).Draw(t, "lines"),
			})
		}
		out := encode(t, event, effects...)
		if out == "" {
			return
		}
		said := out
		switch {
		case event == "PreCompact":
			said = strings.TrimSuffix(out, "\n")
			if strings.HasPrefix(strings.TrimSpace(out), "{") {
				t.Fatalf("plain text that looks like JSON: %q", out)
			}
		case speaks[event]:
			var got struct {
				HookSpecificOutput struct{ HookEventName, AdditionalContext string }
			}
			dec := json.NewDecoder(bytes.NewReader([]byte(out)))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&got); err != nil || dec.More() || got.HookSpecificOutput.HookEventName != event {
				t.Fatalf("%v: %q", err, out)
			}
			said = got.HookSpecificOutput.AdditionalContext
		default:
			t.Fatalf("%s takes nothing, but got %q", event, out)
		}
		if said == "" || len(utf16.Encode([]rune(said))) > session.MaxInjectedChars {
			t.Fatalf("%d characters", len(utf16.Encode([]rune(said))))
		}
		for _, r := range out {
			if r != '\n' && unicode.IsControl(r) {
				t.Fatalf("control character %q", r)
			}
		}
	})
}
