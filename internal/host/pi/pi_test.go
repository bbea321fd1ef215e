package pi

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// Every event that the extension said, and what it is decoded to.
func TestDecodeCapturedPayloads(t *testing.T) { hosttest.Payloads(t, New(), nil) }

// Every captured record, read at first sight and read from its second line on.
func TestReadCapturedRecords(t *testing.T) { hosttest.Transcripts(t, New(), "transcripts") }

// Every captured record: what is visited of it, newest first, and what fills the window by it.
func TestScanCapturedRecords(t *testing.T) { hosttest.Scans(t, New(), "transcripts") }

// What a hook of no session, or of no event, says is refused.
func TestDecodeRefusesWhatIsNoPayload(t *testing.T) { hosttest.Refused(t, New()) }

// One compaction counts once, though the hook of its announcement may run when the record has it already. A session without a record
// has nothing but the events.
func TestCompactionCountsOnce(t *testing.T) {
	said := hosttest.ReadFile(t, "testdata/payloads/session_before_compact.json")
	lines := bytes.SplitAfter(hosttest.ReadFile(t, hosttest.Glob(t, "testdata/transcripts/*.jsonl")[0]), []byte{'\n'})
	boundary := slices.IndexFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte(`"type":"compaction"`)) })
	path := []byte(`"transcript_path": "`)
	at := bytes.Index(said, path) + len(path)
	before, after := said[:at], said[at+bytes.IndexByte(said[at:], '"'):]
	for where, record := range map[string]string{"on record": filepath.Join(t.TempDir(), "2026-11-22T07-56-26-014Z_s.jsonl"), "without a record": ""} {
		var st session.State
		handle := func(name string, lines [][]byte) {
			t.Helper()
			payload := slices.Concat(bytes.Replace(before, []byte("session_before_compact"), []byte(name), 1), []byte(filepath.ToSlash(record)), after)
			ev, err := New().Decode(name, payload)
			if err != nil {
				t.Fatal(err)
			}
			if record != "" {
				if err := os.WriteFile(record, bytes.Join(lines, nil), 0o600); err != nil {
					t.Fatal(err)
				}
				reading, err := New().Read(t.Context(), record, st.Session.Cursor)
				if err != nil {
					t.Fatal(err)
				}
				ev.Reading = &reading
			}
			st.Rules = New().Rules()
			changes, _ := session.Reduce(st, ev, settings.Config{}, ev.At)
			st.Known, st.Session = true, *changes.Session
		}
		handle("agent_end", lines[:boundary])
		handle("session_before_compact", lines[:boundary+1])
		handle("session_compact", lines[:boundary+1])
		handle("before_agent_start", lines[:boundary+1])
		if got := st.Session.Compaction; got.Count != 1 || !got.OpenedAt.IsZero() {
			t.Errorf("%s: %d compactions, want 1: %+v", where, got.Count, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	hosttest.FuzzHooks(f, New(), func(ev session.Event) bool { return accepts(ev.Name) != nil }, session.MaxInjectedChars)
}

func FuzzRead(f *testing.F) {
	hosttest.FuzzReads(f, New(), "transcripts", "2026-11-22T07-56-26-014Z_01a20241-a41d-713d-97cf-35e1737d88f9.jsonl")
}

// Another file of that name stays; ours is added, found again, moved and removed.
func TestInstall(t *testing.T) {
	i := Host.Installer
	text, done, err := i.Install("ctxls.js", nil, "/opt/a b/ctxls", false)
	if own := i.Installed(text); err != nil || len(done) != 1 || len(own) != 1 || own[0].Program != "/opt/a b/ctxls" {
		t.Fatalf("%v, %q, %+v", err, done, own)
	}
	if again, done, err := i.Install("ctxls.js", text, "/opt/a b/ctxls", false); err != nil || len(done) > 0 || string(again) != string(text) {
		t.Errorf("again: %v, %q", err, done)
	}
	if _, done, err := i.Install("ctxls.js", text, "/bin/ctxls", false); err != nil || len(done) != 1 {
		t.Errorf("moved: %v, %q", err, done)
	}
	if left, done, err := i.Uninstall("ctxls.js", text, nil); err != nil || len(done) != 1 || left != nil {
		t.Errorf("removed: %v, %q", err, done)
	}
	mine := []byte("export default () => {}\n")
	if _, _, err := i.Install("ctxls.js", mine, "/bin/ctxls", false); err == nil {
		t.Error("a file of the user's was replaced")
	}
	if left, done, err := i.Uninstall("ctxls.js", mine, nil); err != nil || len(done) > 0 || string(left) != string(mine) {
		t.Errorf("a file of the user's: %v, %q", err, done)
	}
}

// A record says which model answered. Its window is in the user's models.json, or it is not known here.
func TestWindowOfARecord(t *testing.T) {
	answer := func(provider, id, at string) string {
		return fmt.Sprintf(`{"type":"message","id":"a","parentId":"b","timestamp":"2026-11-22T08:00:%sZ","message":{"role":"assistant","content":[],`+
			`"provider":%q,"model":%q,"usage":{"input":100,"output":1,"cacheRead":0,"cacheWrite":0}}}`+"\n", at, provider, id)
	}
	const models = `{
  // added by hand
  "providers": {
    "local": {"baseUrl": "http://localhost/v1", "models": [{"id": "plain"}, {"id": "large", "contextWindow": 64000, "maxTokens": 4000},]},
    "anthropic": {"modelOverrides": {"claude-opus-4-6": {"contextWindow": 300000}}},
  },
}`
	for _, tt := range []struct {
		name, models, answers string
		want                  model.Limits
		provider              string
	}{
		{"added without a window", models, answer("local", "plain", "01"), model.Limits{WindowTokens: 128_000, OutputTokens: 16_384}, "local"},
		{"added with a window", models, answer("local", "large", "01"), model.Limits{WindowTokens: 64_000, OutputTokens: 4_000}, "local"},
		{"changed", models, answer("anthropic", "claude-opus-4-6", "01"), model.Limits{WindowTokens: 300_000}, "anthropic"},
		{"of the model that answered last", models, answer("local", "plain", "01") + answer("local", "large", "02"), model.Limits{WindowTokens: 64_000, OutputTokens: 4_000}, "local"},
		{"not in the file", models, answer("local", "plain", "01") + answer("openai", "gpt-5.4", "02"), model.Limits{}, "openai"},
		{"no file", "", answer("local", "plain", "01"), model.Limits{}, "local"},
		{"half a file", models[:100], answer("local", "plain", "01"), model.Limits{}, "local"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, "sessions", "p", "2026-11-22T07-56-26-014Z_s.jsonl")
			write := func(path, text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(path, `{"type":"session","version":3,"id":"s","timestamp":"2026-11-22T07:56:26.014Z","cwd":"/home/dev"}`+"\n"+tt.answers)
			if tt.models != "" {
				write(filepath.Join(home, "models.json"), tt.models)
			}
			records := NewRecords(host.Env{Getenv: func(name string) string { return map[string]string{"PI_CODING_AGENT_DIR": home}[name] }})
			rec, _ := records.Recognize(path)
			events, err := records.Read(t.Context(), rec, false)
			if err != nil {
				t.Fatal(err)
			}
			st := session.State{Rules: New().Rules()}
			for _, ev := range events {
				changes, _ := session.Reduce(st, ev, settings.Config{}, ev.At)
				st.Known, st.Session = true, *changes.Session
			}
			if s := st.Session; s.Limits != tt.want || s.Provider != tt.provider {
				t.Errorf("%+v of %q, want %+v of %q", s.Limits, s.Provider, tt.want, tt.provider)
			}
		})
	}
}
