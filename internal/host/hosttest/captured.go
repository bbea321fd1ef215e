package hosttest

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/survival"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/store/sqlite"
)

// Payloads decodes every payload in testdata/payloads and compares the events with testdata/payloads.golden. Files are named
// EVENT.WHAT.json. nameOf returns the name that the host passes beside a payload of that event; it is nil if the host passes none.
func Payloads(t *testing.T, a core.Adapter, nameOf func(event string) string) {
	t.Helper()
	var got bytes.Buffer
	for _, file := range Glob(t, "testdata/payloads/*.json") {
		base := filepath.Base(file)
		want, _, _ := strings.Cut(base, ".")
		name := ""
		if nameOf != nil {
			name = nameOf(want)
		}
		ev, err := a.Decode(name, ReadFile(t, file))
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		if ev.Name != want {
			t.Errorf("%s: decoded as %q", base, ev.Name)
		}
		fmt.Fprintf(&got, "-- %s --\n%s\n", base, Show(t, ev))
	}
	Golden(t, "testdata/payloads.golden", got.Bytes())
}

// Transcripts reads every transcript in a directory of testdata, from its start and from its second line, and compares the content with
// the golden file of the directory's name.
func Transcripts(t *testing.T, a core.Adapter, dir string) {
	t.Helper()
	var got bytes.Buffer
	for _, file := range Glob(t, "testdata/"+dir+"/*.jsonl") {
		first, err := a.Read(t.Context(), file, session.Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		data := ReadFile(t, file)
		if first.From != 0 || first.Cursor.Offset != int64(len(data)) {
			t.Errorf("%s: read %d to %d, want all %d bytes", file, first.From, first.Cursor.Offset, len(data))
		}
		from := first.Cursor
		from.Offset = int64(bytes.IndexByte(data, '\n') + 1)
		rest, err := a.Read(t.Context(), file, from)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "-- %s: first sight --\n%s\n", filepath.Base(file), Show(t, first.Entries))
		fmt.Fprintf(&got, "-- %s: forward --\n%s\n", filepath.Base(file), Show(t, rest.Entries))
	}
	Golden(t, "testdata/"+dir+".golden", got.Bytes())
}

// Scans scans every transcript in a directory of testdata, newest entry first, and compares the visited entries and the breakdown with
// testdata/scans.golden.
func Scans(t *testing.T, a core.Adapter, dir string) {
	t.Helper()
	var got bytes.Buffer
	for _, file := range Glob(t, "testdata/"+dir+"/*.jsonl") {
		fmt.Fprintf(&got, "-- %s --\n%s\n%s\n", filepath.Base(file), visited(t, a, file), Show(t, breakdown(t, a, file)))
	}
	Golden(t, "testdata/scans.golden", got.Bytes())
}

// visited writes a line for each piece that a scan visits.
func visited(t *testing.T, a core.Adapter, file string) string {
	t.Helper()
	var lines []string
	total := int64(0)
	err := a.(core.Scanner).Scan(t.Context(), file, func(done, all int64) {
		if total = all; done > all {
			t.Errorf("%s: %d of %d bytes are done", file, done, all)
		}
	}, func(e session.Entry) bool {
		if e.Report != nil {
			lines = append(lines, fmt.Sprintf("report %d", e.Report.Tokens))
		}
		for _, p := range e.Content {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %d bytes", p.Class, p.Tool, p.Path, len(p.Text)+p.Bytes)))
		}
		return true
	})
	if info, _ := os.Stat(file); err != nil || total != info.Size() {
		t.Errorf("%s: %v after %d bytes", file, err, total)
	}
	return strings.Join(lines, "\n")
}

// breakdown returns what fills the window of a session whose turn has just ended.
func breakdown(t *testing.T, a core.Adapter, file string) *session.Breakdown {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "state.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	counter, err := token.Get(session.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	s := &core.Service{
		Store: store, Adapters: map[session.Host]core.Adapter{a.Host(): a}, Counter: counter,
		Config: func(string) settings.Config { return settings.Default() }, Now: func() time.Time { return time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC) },
		DirExists: func(string) bool { return false }, Log: slog.New(slog.DiscardHandler),
	}
	ev := session.Event{Host: a.Host(), SessionID: "s", Kind: session.TurnFinished, CWD: "/home/dev/project", Transcript: file}
	if _, err := s.Handle(t.Context(), ev); err != nil {
		t.Fatal(err)
	}
	view, err := s.SessionBreakdown(t.Context(), ev.Key(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if b := view.Breakdown; b.Tokens != nil {
		sum := 0
		for _, p := range b.Parts {
			sum += p.Tokens
		}
		if *b.Tokens != *view.Usage.Tokens || sum != *b.Tokens {
			t.Errorf("%s: %d tokens in parts that add up to %d, of %d reported", file, *b.Tokens, sum, *view.Usage.Tokens)
		}
	}
	return view.Breakdown
}

// Histories compares the content of records from before a compaction with testdata/histories.golden. The records are in a directory of
// testdata.
func Histories(t *testing.T, a core.Adapter, h core.Historian, dir string) {
	t.Helper()
	var got bytes.Buffer
	for _, file := range Glob(t, "testdata/"+dir+"/*.jsonl") {
		c := survival.Collector{Tools: a.Rules().Tools}
		err := h.History(t.Context(), core.Record{Key: session.Key{Host: a.Host(), SessionID: "s"}, Path: file}, false, func(e session.Entry) bool {
			c.Add(e)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		past := c.Past()
		for i, s := range past.Summaries {
			past.Summaries[i] = fmt.Sprintf("%d bytes", len(s))
		}
		fmt.Fprintf(&got, "-- %s --\n%s\n", filepath.Base(file), Show(t, past))
	}
	Golden(t, "testdata/histories.golden", got.Bytes())
}
