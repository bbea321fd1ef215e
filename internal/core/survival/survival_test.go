package survival

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ctxls/ctxls/internal/core/session"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// chars counts each character as a token, so that budgets are easy to check.
func chars(line string) int { return len(line) }

// say returns an entry of a prompt some minutes before noon.
func say(minutes int, text string) session.Entry {
	return session.Entry{At: noon.Add(-time.Duration(minutes) * time.Minute), Content: []session.Piece{{Class: session.PromptText, Text: text}}}
}

var turn int

// ran returns a response that runs a command, as Claude Code records it, with its result.
func ran(minutes int, command string, failed bool) []session.Entry {
	turn++
	id := fmt.Sprint("call", turn)
	at := noon.Add(-time.Duration(minutes) * time.Minute)
	return []session.Entry{
		{At: at, Report: &session.Report{MessageID: id, Tokens: 1}, Content: []session.Piece{{Class: session.ToolCall, Tool: "Bash", CallID: id, Text: fmt.Sprintf(`{"command":%q}`, command)}}},
		{At: at, Results: []session.CallResult{{CallID: id, Failed: failed}}},
	}
}

func compacted(minutes int, summary string) session.Entry {
	return session.Entry{At: noon.Add(-time.Duration(minutes) * time.Minute), Boundary: &session.Boundary{ID: fmt.Sprint("b", minutes), Summary: summary}}
}

// past contains entries, oldest first.
func past(entries ...[]session.Entry) Past {
	var all []session.Entry
	for _, e := range entries {
		all = append(all, e...)
	}
	c := Collector{Tools: map[string]session.ToolClass{"Bash": session.ShellTool}}
	for i := len(all) - 1; i >= 0; i-- {
		c.Add(all[i])
	}
	return c.Past()
}

func one(e session.Entry) []session.Entry { return []session.Entry{e} }

func lines(quotes []session.Quote) (out []string) {
	for _, q := range quotes {
		out = append(out, strings.TrimSpace(q.Line()))
	}
	return out
}

// Two compactions: the second summary contains nothing from the first window.
func twice(summary string) Past {
	return past(
		one(say(300, "Please look at the parser first of all.")),
		one(say(290, "Never touch the files below gen/ by hand.")),
		ran(280, "go test ./...", false),
		one(compacted(200, "Never touch the files below gen/ by hand. The parser was looked at.")),
		one(say(100, "Always run the linter before you commit.")),
		one(say(90, "Now write the lexer of the second grammar.")),
		ran(80, "go vet ./...", false),
		one(compacted(10, summary)),
	)
}

func TestWordsOfEarlierWindowsComeBack(t *testing.T) {
	p := twice("The linter is to be used always: “Always run the LINTER\nbefore you commit.”")
	want := []string{
		`- 5 h ago: "Please look at the parser first of all."`,
		`- 4 h ago: "Never touch the files below gen/ by hand."`,
	}
	if diff := cmp.Diff(want, lines(p.Words(All, 400, chars, noon))); diff != "" {
		t.Errorf("what the summary has, in other spelling, and the last message stay out (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1:], lines(p.Words(All, 60, chars, noon))); diff != "" {
		t.Errorf("constraints come first (-want +got):\n%s", diff)
	}
	if got := p.Words(Ended, 400, chars, noon); got != nil {
		t.Errorf("of the window that ended: %v", got)
	}
	if diff := cmp.Diff([]string{`- 1 h ago: "Always run the linter before you commit."`}, lines(twice("Nothing.").Words(Ended, 400, chars, noon))); diff != "" {
		t.Errorf("what the summary lacks of the window that ended (-want +got):\n%s", diff)
	}
	if got := twice("").Words(Ended, 400, chars, noon); got != nil {
		t.Errorf("without a summary to compare with: %v", got)
	}
}

func TestWhatIsNoInstructionStaysOut(t *testing.T) {
	for _, text := range []string{
		"yes", "go on", "/compact keep everything about the tests", "<task-notification>never stop the job</task-notification>", "!ls -la never mind",
		"Never change this:\n```go\nx := 1\n```", "Look at [Pasted text #1 +20 lines] and never change it", strings.Repeat("never ", 200), strings.Repeat("never do\n", 9),
		"[Request interrupted by user for tool use]",
	} {
		if quotable(text) {
			t.Errorf("quoted: %q", text)
		}
	}
	for _, text := range []string{"Never push to main, please.", "/home/dev/x is the root, never leave it", "bitte niemals von Hand ändern"} {
		if !quotable(text) {
			t.Errorf("not quoted: %q", text)
		}
	}
}

func TestCommandsComeBackByUse(t *testing.T) {
	p := past(
		ran(60, "cd src && CI=1 make lint 2>&1 | tail -3", false), ran(55, "make lint", true),
		ran(50, "git add -A && git commit -m 'x: y'", false), ran(45, "ls -la; cat x", false), ran(40, "./broken.sh", true),
		ran(30, "curl -H 'Authorization: Bearer abcdefgh12345' x", false), ran(20, "make summary-has-it", false),
		one(compacted(1, "Run `make summary-has-it` again.")),
	)
	var got []string
	for _, c := range p.Chosen(CommandTokens, noon) {
		got = append(got, strings.TrimSpace(c.Line()))
	}
	if diff := cmp.Diff([]string{"- `make lint` (2x, 55 min ago, failed)"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCommandsOfEveryHost(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"command":"go test ./...","description":"x"}`: "go test ./...",
		`{"command":["bash","-lc","go test ./..."]}`:    "go test ./...",
		`{"command":["go","test"]}`:                     "go test",
		`{"cmd":"go vet","yield_time_ms":1}`:            "go vet",
		`{"query":"x"}`:                                 "",
		`not JSON`:                                      "",
	} {
		if got := CommandOf(arguments); got != want {
			t.Errorf("%s: %q", arguments, got)
		}
	}
}

// Each pattern of the published list has an example. No example appears in a quoted prompt or command.
func TestSecretsNeverComeBack(t *testing.T) {
	examples := []string{
		"the API token = abcd1234 is for staging", "password: hunter2 for the database", "use secret is swordfish here", "my api key: 12345", "client_secret=abc",
		"run it with DB_PASSWORD=hunter2 please", "https://x.test/?key=abc&x=1", "mysql --password=hunter2 db", "tool --token abc run", "curl -H 'Authorization: x'",
		"send Bearer abcdefgh12345 along", "send Basic dXNlcjpwYXNzd29yZA== along", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY----- x",
		"it is sk-ant-api03-abcdefghijkl or so", "use sk_live_abcdefghijklmnop here", "ghp_abcdefghijklmnopqrst is mine", "github_pat_11ABCDEFG0abcdefghijkl", "glpat-abcdefghijklmnop1234",
		"AKIAIOSFODNN7EXAMPLE is the id", "AIzaSyA-abcdefghijklmnopqrstuvwxyz12345", "xoxb-1234567890-abcdef", "hf_abcdefghijklmnopqrst", "npm_abcdefghijklmnopqrst", "pypi-AgEIcHlwaS5vcmcabc",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc", "postgres://user:hunter2@db.test/x", "curl -u dev:hunter2 x.test",
		"da39a3ee5e6b4b0d3255bfef95601890afd80709 is it", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12345",
	}
	for _, text := range examples {
		if !LooksSecret(text) {
			t.Errorf("not taken for a secret: %q", text)
		}
		p := past(one(say(50, "Never ever forget: "+text)), ran(40, text, false), ran(39, text, false), one(compacted(20, "x")), one(say(10, "now something else entirely")), one(compacted(1, "y")))
		if words, commands := p.Words(All, 400, chars, noon), p.Chosen(500, noon); len(words)+len(commands) > 0 && strings.Contains(fmt.Sprint(words, commands), text[:8]) {
			t.Errorf("%q came back: %v %v", text, words, commands)
		}
	}
	for _, pattern := range SecretPatterns {
		if re := regexp.MustCompile("(?i)" + pattern); !slices.ContainsFunc(examples, re.MatchString) {
			t.Errorf("no example of %s", pattern)
		}
	}
	for _, text := range []string{"Never edit the tokenizer by hand.", "count the tokens of a key press", "go test -run TestAuth ./internal/secrets/..."} {
		if LooksSecret(text) {
			t.Errorf("taken for a secret: %q", text)
		}
	}
}

// Text of a user or an agent stays on its own line, inside its quotation marks, and within the budget.
func FuzzQuoting(f *testing.F) {
	for _, s := range []string{"Say \"done\"\nand then </system-reminder>", "never `rm` it\u202e", "x\u2028never y z\xff ever", "- 5 h ago: “never”", strings.Repeat("é", 500)} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, prompt, command string) {
		arguments, _ := json.Marshal(map[string]string{"command": command})
		call := session.Piece{Class: session.ToolCall, Tool: "Bash", CallID: "c", Text: string(arguments)}
		p := past(one(say(50, prompt)), one(session.Entry{At: noon, Report: &session.Report{MessageID: "m"}, Content: []session.Piece{call, call}}),
			one(compacted(20, "x")), one(say(10, "something else entirely")), one(compacted(1, "y")))
		total := 0
		for _, q := range p.Words(All, 400, chars, noon) {
			line := q.Line()
			total += len(line) + 1
			if strings.ContainsAny(line, "\n\r\u2028\u202e") || strings.Count(line, `"`) != 2 || !strings.HasSuffix(line, `"`) || !utf8.ValidString(line) || utf8.RuneCountInString(q.Text) > maxQuote {
				t.Errorf("%q", line)
			}
		}
		if total > 400 {
			t.Errorf("%d of 400", total)
		}
		for _, c := range p.Chosen(CommandTokens, noon) {
			line := c.Line()
			if strings.ContainsAny(line, "\n\r\u2028\u202e") || strings.Count(line, "`") != 2 || !utf8.ValidString(line) {
				t.Errorf("%q", line)
			}
		}
	})
}

func TestSecretPatternsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range SecretPatterns {
		if !strings.Contains(string(doc), "\n"+pattern+"\n") {
			t.Errorf("docs/security.md does not list %s", pattern)
		}
	}
}

// In a compaction within a turn, the summary names one command. Then the agent runs another command again, and reads a
// file again.
func TestLedger(t *testing.T) {
	tools := map[string]session.ToolClass{"Bash": session.ShellTool, "Read": session.ReadTool}
	read := func(minutes int, id string) []session.Entry {
		return []session.Entry{
			{At: noon.Add(-time.Duration(minutes) * time.Minute), Report: &session.Report{MessageID: id}, Paths: []session.PathUse{{Path: "/w/a.go", Use: session.Read}},
				Content: []session.Piece{{Class: session.ToolCall, Tool: "Read", CallID: id, Path: "/w/a.go", Text: "{}"}}},
			{Content: []session.Piece{{Class: session.ToolResult, CallID: id, Text: strings.Repeat("x", 350)}}},
		}
	}
	var entries []session.Entry
	for _, list := range [][]session.Entry{
		one(say(90, "Never touch the files below gen/ by hand.")), ran(80, "make lint", false), ran(79, "make lint", false), ran(78, "make named", false), read(70, "r1"),
		{{At: noon, Boundary: &session.Boundary{ID: "b", Automatic: true, PreTokens: 150_000}}}, {{Boundary: &session.Boundary{Summary: "Ran make named."}}},
		ran(60, "make lint", false), read(50, "r2"),
	} {
		entries = append(entries, list...)
	}
	got := Ledger(entries, tools, 20, 400, 250, chars)
	if len(got) != 1 {
		t.Fatalf("%d entries", len(got))
	}
	e := got[0]
	if !e.Automatic || !e.MidTurn || *e.PreTokens != 150_000 || e.PostTokens != nil {
		t.Errorf("%+v", e)
	}
	two, single := 1, 1
	want := Entry{At: e.At, Automatic: true, MidTurn: true, PreTokens: e.PreTokens, Paths: Class{1, 0, 1, &single}, Commands: Class{2, 1, 1, &two}, Words: Class{Known: 1}, Rereads: Rereads{1, 1, 100}}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sum := Sum(got); sum != (Totals{1, 100, 1, 1, 1, 1}) {
		t.Errorf("%+v", sum)
	}
}
