package hosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// The laws that hold for every adapter and every input. Fuzz targets check them.

// longestPath is the maximum length of a path in an event, in bytes: the longest that any system accepts.
const longestPath = 4096

// Decoded checks the result of decoding a payload: an event that names its session and is valid for the domain, or an error about the
// payload. It reports whether there is an event.
func Decoded(t testing.TB, host session.Host, ev session.Event, err error) bool {
	t.Helper()
	if err != nil {
		if coded.CodeOf(err) != coded.Invalid {
			t.Fatalf("an error with the code %q: %v", coded.CodeOf(err), err)
		}
		if said := err.Error(); len(said) > 2000 || strings.ContainsFunc(said, unprintable) {
			t.Fatalf("an error that is not fit to be shown: %.3000q", said)
		}
		return false
	}
	if ev.Host != host || ev.SessionID == "" || ev.Name == "" || ev.Kind == "" {
		t.Fatalf("an event without its host, a session, a name or a kind: %+v", ev)
	}
	for _, rep := range ev.Reports {
		report(t, rep)
	}
	paths(t, ev.Paths)
	return true
}

func report(t testing.TB, rep session.Report) {
	t.Helper()
	if u := rep.Tuple; rep.Tokens < 0 || u.Input < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Output < 0 || rep.Provenance == "" {
		t.Fatalf("a report of what cannot be: %+v", rep)
	}
}

func paths(t testing.TB, uses []session.PathUse) {
	t.Helper()
	for _, use := range uses {
		if use.Path == "" || len(use.Path) > longestPath || use.Use < session.Mentioned || use.Use > session.Edited {
			t.Fatalf("a path that is none: %d bytes, use %d: %.100q", len(use.Path), use.Use, use.Path)
		}
	}
}

// Effects returns one effect of every kind, each with the text.
func Effects(text string) []session.Effect {
	return []session.Effect{{Kind: session.Inject, Text: text}, {Kind: session.AppendToolOutput, Text: text}, {Kind: session.CompactionContext, Lines: strings.Split(text, "\n")}, {Kind: session.Inject, Text: text}}
}

// Context returns the text in an answer of the form that hosts share: one line, {"hookSpecificOutput": {"hookEventName": event,
// "additionalContext": text}}, and nothing else.
func Context(t testing.TB, event string, out []byte) string {
	t.Helper()
	var answer struct {
		HookSpecificOutput struct {
			HookEventName     string `json:"hookEventName"`
			AdditionalContext string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	Strictly(t, out, &answer)
	if answer.HookSpecificOutput.HookEventName != event {
		t.Fatalf("the answer to %q names another event: %q", event, out)
	}
	return answer.HookSpecificOutput.AdditionalContext
}

// Strictly decodes one line of JSON. Members that into does not have are errors.
func Strictly(t testing.TB, out []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil || dec.More() || bytes.IndexByte(out, '\n') != len(out)-1 || !utf8.Valid(out) {
		t.Fatalf("not one line of JSON of the form that is taken: %v: %q", err, out)
	}
}

// Said checks a text for a model: it is not empty, it is no longer than limit in the host's units, and line feeds are its only control
// characters.
func Said(t testing.TB, text string, limit int, size func(rune) int) {
	t.Helper()
	length := 0
	for _, r := range text {
		length += size(r)
	}
	if i := strings.IndexFunc(text, unprintable); i >= 0 {
		t.Fatalf("%q is said, at %d of %.3000q", text[i:min(len(text), i+4)], i, text)
	}
	if strings.TrimSpace(text) == "" || length > limit || !utf8.ValidString(text) {
		t.Fatalf("a text of %d, want 1 to %d: %.3000q", length, limit, text)
	}
}

func unprintable(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Excerpts returns whole lines from the files that match a pattern, in pieces of about 4 KB: seeds short enough for many mutations.
func Excerpts(t testing.TB, pattern string) (pieces [][]byte) {
	t.Helper()
	for _, file := range Glob(t, pattern) {
		var piece []byte
		for line := range bytes.Lines(ReadFile(t, file)) {
			if len(piece)+len(line) > 4<<10 && len(piece) > 0 {
				pieces, piece = append(pieces, piece), nil
			}
			piece = append(piece, line...)
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// Reads checks how an adapter reads a transcript at path that has the content: from the start, and again after the file grew from its
// first bytes. Nothing may be read twice or skipped. What was read must be at its stated position, in order, and valid.
func Reads(t testing.TB, adapter core.Adapter, path string, content []byte, first int) {
	t.Helper()
	first = min(max(first, 0), len(content))
	write := func(content []byte, flag int) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Remove(path) // truncating the file would flush it to disk on some file systems
	write(content[:first], os.O_EXCL)
	before := read(t, adapter, path, session.Cursor{}, content[:first])
	write(content[first:], os.O_APPEND)
	after := read(t, adapter, path, before.Cursor, content)
	if whole := read(t, adapter, path, session.Cursor{}, content); after.From != before.Cursor.Offset || after.Cursor != whole.Cursor || after.Restarted {
		t.Fatalf("read to %d, then %d to %d (restarted: %v); at once it is read to %d", before.Cursor.Offset, after.From, after.Cursor.Offset, after.Restarted, whole.Cursor.Offset)
	}
	scans(t, adapter, path)
}

func read(t testing.TB, adapter core.Adapter, path string, from session.Cursor, content []byte) session.Reading {
	t.Helper()
	reading, err := adapter.Read(context.Background(), path, from)
	if err != nil {
		t.Fatal(err)
	}
	end := reading.Cursor.Offset
	if reading.From < 0 || reading.From > end || end > int64(len(content)) || end > 0 && content[end-1] != '\n' || bytes.IndexByte(content[end:], '\n') >= 0 {
		t.Fatalf("read %d to %d of %d, which is not the end of the last line", reading.From, end, len(content))
	}
	last := int64(-1)
	for _, e := range reading.Entries {
		if e.Offset <= last || e.Offset < reading.From || e.Offset >= end || e.Offset > 0 && content[e.Offset-1] != '\n' {
			t.Fatalf("an entry at %d after one at %d, in %d to %d", e.Offset, last, reading.From, end)
		}
		last = e.Offset
		if e.Report == nil && e.Boundary == nil && e.Limit == nil && e.Title == "" && e.Limits == (model.Limits{}) && len(e.Paths)+len(e.Results)+len(e.Content) == 0 {
			t.Fatalf("an entry that says nothing, at %d", e.Offset)
		}
		if e.Report != nil {
			report(t, *e.Report)
		}
		paths(t, e.Paths)
	}
	return reading
}

// scans checks that a backward scan ends, visits nothing after it was told to stop, and reports progress within bounds.
func scans(t testing.TB, adapter core.Adapter, path string) {
	t.Helper()
	scanner, ok := adapter.(core.Scanner)
	if !ok {
		return
	}
	count := 0
	progress := func(done, total int64) {
		if done < 0 || done > total {
			t.Fatalf("%d of %d bytes are read", done, total)
		}
	}
	scan := func(visit func(session.Entry) bool) {
		if err := scanner.Scan(context.Background(), path, progress, visit); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	scan(func(e session.Entry) bool {
		if e.Report != nil {
			report(t, *e.Report)
		}
		count++
		return true
	})
	visits := 0
	scan(func(session.Entry) bool {
		visits++
		return false
	})
	if visits > 1 || (visits == 0) != (count == 0) {
		t.Fatalf("%d entries are visited after the first of %d was to be the last", visits, count)
	}
}
