package recall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/claudecode"
	"github.com/ctxls/ctxls/internal/recall"
)

// world is a record of Claude Code that grows, and an index of it.
type world struct {
	t     *testing.T
	dir   string
	index *recall.Index
	r     core.Record
	lines int
	read  int // entries that were visited
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	return &world{t: t, dir: filepath.Join(dir, "recall"), index: recall.New(filepath.Join(dir, "recall")),
		r: core.Record{Key: session.Key{Host: session.HostClaudeCode, SessionID: "s1"}, Path: filepath.Join(dir, "s1.jsonl")}}
}

// History implements core.Historian: it counts what Claude Code's own visits.
func (w *world) History(ctx context.Context, r core.Record, texts bool, visit func(session.Entry) bool) error {
	return claudecode.Records{}.History(ctx, r, texts, func(e session.Entry) bool {
		w.read++
		return visit(e)
	})
}

func (w *world) write(format string, args ...any) {
	w.t.Helper()
	w.lines++
	f, err := os.OpenFile(w.r.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	stamp := fmt.Sprintf(`,"timestamp":"2026-11-20T08:%02d:00Z","uuid":"u%d","isSidechain":false}`, w.lines, w.lines)
	if _, err := f.WriteString(strings.TrimSuffix(fmt.Sprintf(format, args...), "}") + stamp + "\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) prompt(text string) {
	w.write(`{"type":"user","message":{"role":"user","content":%s}}`, quoted(text))
}

func (w *world) call(tool, id, input, result string) {
	w.write(`{"type":"assistant","message":{"id":"m%s","model":"claude-sonnet-4-6","role":"assistant","content":[{"type":"tool_use","id":"%s","name":"%s","input":%s}],"usage":{"input_tokens":9}}}`, id, id, tool, input)
	w.write(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":%s}]}}`, id, quoted(result))
}

func (w *world) compaction() {
	w.write(`{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":150000}}`)
	w.write(`{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"zebra summary"}}`)
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

func (w *world) search(query string) []core.RecallLine {
	w.t.Helper()
	lines, _, _, err := w.index.Search(w.t.Context(), w.r, w, claudecode.New(nil).Rules().Tools, query, 10)
	if err != nil {
		w.t.Fatalf("%q: %v", query, err)
	}
	return lines
}

// want checks what a search finds, as role, tool and the beginning of the text.
func (w *world) want(query string, want ...string) {
	w.t.Helper()
	var got []string
	for _, l := range w.search(query) {
		got = append(got, strings.TrimSpace(l.Role+" "+l.Tool)+": "+l.Text[:min(50, len(l.Text))])
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.t.Errorf("%q: got\n%s\nwant\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWhatWasBeforeTheLastCompaction(t *testing.T) {
	w := newWorld(t)
	w.prompt("Never use the zebra library.")
	w.call("Read", "t1", `{"file_path":"/w/zebra.go"}`, "package zebra")
	w.call("Bash", "t2", `{"command":"make zebra"}`, "zebra: 3 errors\nok")
	w.want("zebra") // nothing was compacted
	w.compaction()
	w.prompt("Is the zebra still there?")
	w.want("zebras", `call Bash: {"command":"make zebra"}`, "result Bash: zebra: 3 errors\nok", "user: Never use the zebra library.", `call Read: {"file_path":"/w/zebra.go"}`)
	if l := w.search("never library")[0]; l.At == nil || l.At.Format("15:04") != "08:01" || l.Text != "Never use the zebra library." || l.Cut {
		t.Errorf("%+v", l)
	}
}

// Only what came in since is read, and what is in the window now becomes searchable with the next compaction.
func TestTheIndexFollowsTheRecord(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.prompt(fmt.Sprintf("zebra number %d", i))
	}
	w.compaction()
	w.search("zebra")
	w.read = 0
	w.prompt("the last walrus of all")
	w.want("walrus")
	if w.read > 2 {
		t.Errorf("%d entries were read for one more", w.read)
	}
	w.compaction()
	w.want("walrus", "user: the last walrus of all")
	if got := len(w.search("zebra")); got != 10 {
		t.Errorf("%d lines", got)
	}
}

func TestALongTextIsCut(t *testing.T) {
	w := newWorld(t)
	w.call("Bash", "t1", `{"command":"x"}`, "walrus "+strings.Repeat("é", 3000))
	w.compaction()
	if l := w.search("walrus"); len(l) != 1 || !l[0].Cut || len([]rune(l[0].Text)) != 2000 {
		t.Errorf("%+v", l)
	}
}

// Whatever is typed is searched for as words, never as an expression.
func TestAQueryIsNoExpression(t *testing.T) {
	w := newWorld(t)
	w.prompt("a walrus AND a zebra")
	w.compaction()
	for _, query := range []string{`"walrus`, `walrus" OR "`, "walrus*", "NEAR(walrus", "text:walrus -walrus", "walrus')); DROP TABLE line; --", "(walrus", "^walrus", "walrus\x00"} {
		if len(w.search(query)) != 1 {
			t.Errorf("%q does not find it", query)
		}
	}
	for _, query := range []string{"", "  ", "***", "the of and"} {
		if len(w.search(query)) != 0 {
			t.Errorf("%q finds something", query)
		}
	}
}

// The index is a cache: a damaged one, and one of another version, is built anew; a host that rewrites its record loses nothing of it.
func TestTheIndexIsACache(t *testing.T) {
	w := newWorld(t)
	w.prompt("the walrus of the first window")
	w.compaction()
	w.want("walrus", "user: the walrus of the first window")
	files, _ := filepath.Glob(filepath.Join(w.dir, "*.db"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	if err := os.WriteFile(files[0], []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.want("walrus", "user: the walrus of the first window")
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	w.want("walrus", "user: the walrus of the first window")

	if err := os.Truncate(w.r.Path, 0); err != nil { // rewritten: only what came after the compaction is left
		t.Fatal(err)
	}
	w.compaction()
	w.want("walrus", "user: the walrus of the first window")
}

func TestForgetLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.prompt("the walrus")
	w.compaction()
	w.search("walrus")
	for _, name := range []string{w.dir, mustGlob(t, w.dir)} {
		info, err := os.Stat(name)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 { // Windows has no such bits
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if err := w.index.Forget(w.r.Key); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(w.dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if err := w.index.Forget(w.r.Key); err != nil {
		t.Errorf("again: %v", err)
	}
}

func mustGlob(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	return files[0]
}

func TestARecordThatIsGone(t *testing.T) {
	w := newWorld(t)
	if _, _, _, err := w.index.Search(t.Context(), w.r, w, nil, "walrus", 10); err == nil {
		t.Error("no error")
	}
}

// BenchmarkRecall has a record of 4 MB: how long building its index takes, and a search.
func BenchmarkRecall(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	words := strings.Fields("the parser reads a token and calls the lexer with a buffer that holds lines of source files from the disk until an error occurs in the handler")
	for i, size := 0, 0; size < 4<<20; i++ {
		var text strings.Builder
		for j := range 150 {
			fmt.Fprintf(&text, "%s%d ", words[(i*7+j*3)%len(words)], (i*31+j)%997)
		}
		// As in real records, four bytes of five are results of reads, and what the host keeps of them for its own screen.
		k, _ := fmt.Fprintf(f, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x%d","content":%s}]},"toolUseResult":{"file":%s},"timestamp":"2026-11-20T08:00:00Z","uuid":"r%d","isSidechain":false}`+"\n", i,
			quoted(strings.Repeat(text.String(), 2)), quoted(strings.Repeat(text.String(), 2)), i)
		size += k
		n, _ := fmt.Fprintf(f, `{"type":"assistant","message":{"id":"m%d","model":"m","role":"assistant","content":[{"type":"text","text":%s},{"type":"tool_use","id":"x%d","name":"Read","input":{}}],"usage":{"input_tokens":9}},"timestamp":"2026-11-20T08:00:00Z","uuid":"u%d","isSidechain":false}`+"\n", i, quoted(text.String()), i+1, i)
		size += n
	}
	fmt.Fprintln(f, `{"type":"system","subtype":"compact_boundary","timestamp":"2026-11-20T09:00:00Z","uuid":"b","isSidechain":false}`)
	f.Close()
	r := core.Record{Key: session.Key{Host: session.HostClaudeCode, SessionID: "s"}, Path: path}
	index := recall.New(filepath.Join(dir, "recall"))
	search := func(b *testing.B, query string) {
		if _, found, _, err := index.Search(b.Context(), r, claudecode.Records{}, claudecode.New(nil).Rules().Tools, query, 10); err != nil || found == 0 {
			b.Fatal(found, err)
		}
	}
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			if err := index.Forget(r.Key); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			search(b, "parser7")
		}
	})
	b.Run("query", func(b *testing.B) {
		search(b, "parser7")
		i := 0
		for b.Loop() {
			i++
			search(b, fmt.Sprintf("lexer%d buffer%d error", i%997, i*3%997))
		}
	})
}
