package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/hosttest"
)

// The lines below are in the form that the host writes, cut down to the members that matter, with the type after the
// message as it stands there.
func answer(id string, cacheRead, output int, stop, blocks string, more ...string) string {
	if stop != "null" {
		stop = `"` + stop + `"`
	}
	return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"message":{"id":%q,"type":"message","role":"assistant",`+
		`"model":"claude-sonnet-4-6","content":[%s],"stop_reason":%s,"usage":{"input_tokens":12,"cache_creation_input_tokens":900,`+
		`"cache_read_input_tokens":%d,"output_tokens":%d}},"type":"assistant","uuid":"u","timestamp":"2026-11-21T09:25:38.924Z",`+
		`"cwd":"/w"%s}`, id, blocks, stop, cacheRead, output, strings.Join(more, ""))
}

const (
	textBlock  = `{"type":"text","text":"Reading."}`
	call       = `{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a.go"}}`
	callSed    = `{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"cat b.go"}}`
	prompt     = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hello"},"uuid":"u"}`
	boundary   = `{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":121252,"postTokens":3043},"uuid":"b1","timestamp":"2026-11-21T09:25:40Z"}`
	bareBound  = `{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":167361},"uuid":"b2","timestamp":"2026-02-12T04:15:48Z"}`
	snakeBound = `{"type":"system","subtype":"compact_boundary","uuid":"b3","compact_metadata":{"trigger":"manual","pre_tokens":468102,"post_tokens":28759}}`
	micro      = `{"isSidechain":false,"type":"system","subtype":"microcompact_boundary","timestamp":"2026-01-21T09:54:05Z","uuid":"m1","microcompactMetadata":{"trigger":"auto","preTokens":60497,"tokensSaved":21279}}`
	summary    = `{"parentUuid":"b1","isSidechain":false,"type":"user","message":{"role":"user","content":"continued: notes.txt"},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"s","timestamp":"2026-11-21T09:25:39Z"}`
	blockSum   = `{"isSidechain":false,"type":"user","message":{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},"isCompactSummary":true}`
	apiError   = `{"isSidechain":false,"type":"assistant","message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"Prompt is too long"}],"usage":{"input_tokens":0,"output_tokens":0}},"errorDetails":"400 prompt is too long: 210000 tokens > 200000 maximum","isApiErrorMessage":true}`
	otherError = `{"isSidechain":false,"type":"assistant","message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"Overloaded"}]},"isApiErrorMessage":true}`
	synthetic  = `{"isSidechain":false,"type":"assistant","message":{"id":"x","model":"<synthetic>","content":[],"usage":{"input_tokens":7}}}`
	request    = `{"type":"api-request-shape","shape":{"system":[{"type":"assistant"}]},"isSidechain":false,"message":{"usage":{"input_tokens":9}}}`
	attachment = `{"parentUuid":"p","isSidechain":false,"attachment":{"type":"hook_success"},"type":"attachment","message":{"usage":{"input_tokens":9}}}`
)

// iterated is an answer whose response took several requests: what stands beside their list is the sum.
func iterated(iterations string) string {
	return strings.Replace(answer("msg_1", 120_500, 230, "end_turn", textBlock), `"usage":{"input_tokens":12,"cache_creation_input_tokens":900,`,
		`"usage":{"iterations":[`+iterations+`],"input_tokens":605,"cache_creation_input_tokens":500,`, 1)
}

func TestLines(t *testing.T) {
	side := strings.Replace(answer("msg_s", 5, 1, "end_turn", textBlock), `"isSidechain":false`, `"isSidechain":true`, 1)
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"an answer", []string{prompt, answer("msg_1", 100_000, 77, "end_turn", textBlock)}, []string{"msg_1 100912 output 77"}},
		{"a line for each block of an answer", []string{
			answer("msg_1", 100_000, 1, "null", textBlock),
			answer("msg_1", 100_000, 1, "null", call),
			prompt,
			answer("msg_1", 100_000, 77, "tool_use", callSed),
		}, []string{"msg_1 100912 output 0", "msg_1 100912 output 0, read /w/a.go", "msg_1 100912 output 77, mentioned /w/b.go"}},
		{"the output of an unfinished answer is a placeholder", []string{answer("msg_1", 1000, 8, "null", textBlock)},
			[]string{"msg_1 1912 output 0"}},
		{"an id that was given twice", []string{
			answer("msg_1", 120_000, 77, "end_turn", textBlock), boundary, answer("msg_1", 11_000, 77, "end_turn", textBlock),
		}, []string{"msg_1 120912 output 77", "boundary b1 121252 to 3043", "msg_1 11912 output 77"}},
		{"requests of one response, with an advisor between them", []string{iterated(`{"type":"message","input_tokens":5,"output_tokens":30,"cache_read_input_tokens":60000,"cache_creation_input_tokens":500},` +
			`{"type":"advisor_message","model":"claude-opus-5","input_tokens":61000,"output_tokens":400,"cache_read_input_tokens":0,"cache_creation_input_tokens":0},` +
			`{"type":"message","input_tokens":600,"output_tokens":200,"cache_read_input_tokens":60500,"cache_creation_input_tokens":0}`)},
			[]string{"msg_1 61100 output 200"}},
		{"the last request was one of another model", []string{iterated(`{"type":"message","input_tokens":5,"output_tokens":30},{"type":"fallback_message","input_tokens":700,"output_tokens":9},{"type":"compaction","input_tokens":9000,"output_tokens":1}`)},
			[]string{"msg_1 700 output 9"}},
		{"requests that say nothing", []string{iterated(`{"type":"message","input_tokens":0,"output_tokens":0},{"type":"advisor_message","input_tokens":61000}`), iterated(``)},
			[]string{"msg_1 121605 output 230", "msg_1 121605 output 230"}},
		{"a sub-agent inline", []string{side}, nil},
		{"an API error as last line", []string{answer("msg_1", 1000, 1, "end_turn", textBlock), apiError},
			[]string{"msg_1 1912 output 1", "limit 210000 > 200000"}},
		{"another API error", []string{otherError}, nil},
		{"written by the host itself", []string{synthetic}, nil},
		{"all-zero usage", []string{strings.NewReplacer(":12,", ":0,", ":900,", ":0,").Replace(answer("msg_1", 0, 5, "end_turn", textBlock))}, nil},
		{"an answer that a compaction kept, written again after the boundary", []string{boundary,
			`{"type":"assistant","timestamp":"2026-11-21T09:20:05Z","message":{"id":"msg_1","model":"claude-opus-5","content":[` + textBlock + `],"stop_reason":"tool_use","usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"cache_creation":{"ephemeral_1h_input_tokens":87,"ephemeral_5m_input_tokens":0},"iterations":[{"input_tokens":2,"output_tokens":1651,"cache_read_input_tokens":204576,"cache_creation_input_tokens":87,"type":"message"}]}}}`},
			[]string{"boundary b1 121252 to 3043"}},
		{"a figure that is no count makes the sum unknown, one that is not there is none", []string{
			strings.Replace(answer("msg_1", 1000, 5, "end_turn", textBlock), `:900`, `:"900"`, 1),
			strings.Replace(answer("msg_2", 1000, 5, "end_turn", textBlock), `:900`, `:-1`, 1),
			strings.Replace(answer("msg_3", 1000, 5, "end_turn", textBlock), `:900`, `:9e30`, 1),
			strings.Replace(answer("msg_4", 1000, 5, "end_turn", textBlock), `:900`, `:null`, 1),
		}, []string{"msg_4 1012 output 5"}},
		{"cache writes by lifetime only", []string{strings.Replace(answer("msg_1", 1000, 5, "end_turn", textBlock),
			`"cache_creation_input_tokens":900`, `"cache_creation_input_tokens":0,"cache_creation":{"ephemeral_1h_input_tokens":30,"ephemeral_5m_input_tokens":4}`, 1)},
			[]string{"msg_1 1046 output 5"}},
		{"records of requests, attachments and tool results", []string{request, attachment,
			`{"isSidechain":false,"type":"user","toolUseResult":{"type":"assistant","usage":{"input_tokens":9}}}`}, nil},
		{"a compaction with its summary", []string{boundary, attachment, summary},
			[]string{`boundary b1 121252 to 3043: "continued: notes.txt"`}},
		{"a summary in blocks", []string{boundary, blockSum}, []string{`boundary b1 121252 to 3043: "one\ntwo"`}},
		{"a compaction without postTokens", []string{bareBound}, []string{"boundary b2 167361 to 0"}},
		{"a compaction in snake case", []string{snakeBound}, []string{"boundary b3 468102 to 28759"}},
		{"two compactions", []string{boundary, summary, bareBound, summary},
			[]string{`boundary b1 121252 to 3043: "continued: notes.txt"`, `boundary b2 167361 to 0: "continued: notes.txt"`}},
		{"a summary whose boundary was read before", []string{summary}, nil},
		{"a microcompaction", []string{micro, summary}, []string{"micro m1 60497 to 0"}},
		{"titles", []string{
			`{"type":"ai-title","aiTitle":"Fix the build","sessionId":"s"}`,
			`{"type":"custom-title","customTitle":"my work","sessionId":"s"}`,
			`{"type":"summary","summary":"Old style","leafUuid":"l"}`,
			`{"type":"last-prompt","lastPrompt":"x"}`,
		}, []string{`title "Fix the build"`, `title "my work"`, `title "Old style"`}},
		{"what the model really sent", []string{answer("msg_1", 0, 1, "tool_use", callSed,
			`,"wireToolInputs":{"t1":{},"t2":{"command":"cat /other/c.go"}}`)},
			[]string{"msg_1 912 output 1, mentioned /other/c.go"}},
		{"a line separator inside a string", []string{answer("msg_1", 0, 1, "end_turn", "{\"type\":\"text\",\"text\":\"a\u2028b\"}")},
			[]string{"msg_1 912 output 1"}},
		{"carriage returns", []string{answer("msg_1", 0, 1, "end_turn", textBlock) + "\r", boundary + "\r"},
			[]string{"msg_1 912 output 1", "boundary b1 121252 to 3043"}},
		{"damage", []string{
			"", "\x00\x00\x00", "garbage", "{", "[]", "null", answer("msg_0", 0, 1, "end_turn", textBlock)[:90],
			`{"type":"assistant"}`, `{"type":"assistant","message":"text"}`, `{"type":"assistant","message":{"usage":[1],"content":7}}`,
			`{"type":"system","subtype":7}`, `{"type":7}`, answer("msg_1", 0, 1, "end_turn", textBlock),
		}, []string{"msg_1 912 output 1"}},
		{"a line of two megabytes", []string{answer("msg_1", 0, 1, "end_turn", `{"type":"text","text":"`+strings.Repeat("x", 2<<20)+`"}`)},
			[]string{"msg_1 912 output 1"}},
		{"a half-written last line", []string{answer("msg_1", 0, 1, "end_turn", textBlock), "\x04" + answer("msg_2", 0, 1, "end_turn", textBlock)},
			[]string{"msg_1 912 output 1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			content := strings.Join(test.lines, "\n") + "\n"
			if done, half, found := strings.Cut(content, "\x04"); found {
				content = done + strings.TrimSuffix(half, "\n")
			}
			// From the first line on, which says nothing, as a session goes that is followed from its start.
			reading := readContent(t, "session.jsonl", `{"type":"mode","mode":"normal"}`+"\n", content)
			if diff := cmp.Diff(test.want, brief(reading.Entries)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASubAgentsOwnFile(t *testing.T) {
	side := strings.Replace(answer("msg_s", 5, 1, "end_turn", call), `"isSidechain":false`, `"isSidechain":true`, 1)
	reading := readContent(t, "agent-a1.jsonl", "{}\n", answer("msg_1", 7, 1, "end_turn", textBlock)+"\n"+side+"\n"+boundary+"\n")
	if diff := cmp.Diff([]string{"msg_s 917 output 1, read /w/a.go"}, brief(reading.Entries)); diff != "" {
		t.Error(diff)
	}
}

// At first sight the last answer counts, from its first line on, and of what lies before the paths and the last title. The
// line that ends the search is of the answer before.
func TestFirstSight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	lines := []string{
		`{"type":"ai-title","aiTitle":"first"}`, answer("msg_1", 1, 1, "tool_use", call), boundary, summary,
		`{"type":"ai-title","aiTitle":"second"}`, answer("msg_2", 2, 1, "tool_use", call), answer("msg_3", 3, 1, "null", callSed),
		answer("msg_3", 3, 9, "tool_use", textBlock), micro, apiError,
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reading, err := New(nil).Read(t.Context(), path, session.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"read /w/a.go", "boundary b1 121252 to 3043", `title "second"`, "msg_2 914 output 1, read /w/a.go", "msg_3 915 output 0, mentioned /w/b.go", "msg_3 915 output 9",
		"micro m1 60497 to 0", "limit 210000 > 200000"}
	if diff := cmp.Diff(want, brief(reading.Entries)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if !reading.Entries[1].Earlier || reading.Entries[3].Earlier {
		t.Error("what lies before the present is not marked, or the present is")
	}
	e := reading.Entries[5]
	at := time.Date(2026, 11, 21, 9, 25, 38, 924e6, time.UTC)
	if !e.At.Equal(at) || !e.Report.At.Equal(at) || e.Report.Provenance != session.ProvenanceTranscript || e.Report.Model != "claude-sonnet-4-6" {
		t.Errorf("got %+v", e.Report)
	}
	if p := reading.Entries[3].Paths[0]; !p.At.Equal(at) {
		t.Errorf("got %+v", p)
	}
}

// However a transcript grows between two hooks, what they read together is what one would have read.
func TestReadingInIncrementsIsReadingAtOnce(t *testing.T) {
	some := []string{
		prompt, boundary, bareBound, micro, apiError, synthetic, request, attachment, "garbage",
		answer("msg_1", 100, 1, "null", textBlock), answer("msg_1", 100, 9, "end_turn", call),
		answer("msg_2", 200, 5, "end_turn", callSed) + "\r", `{"type":"ai-title","aiTitle":"t"}`,
	}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		content := strings.Join(rapid.SliceOfN(rapid.SampledFrom(some), 0, 20).Draw(t, "lines"), "\n") + "\n"
		path := filepath.Join(dir, "session.jsonl")
		begin, rest := "{}\n", content
		os.Remove(path) // rather than truncate it, which some file systems answer with a flush to disk
		if err := os.WriteFile(path, []byte(begin), 0o600); err != nil {
			t.Fatal(err)
		}
		first := mustRead(t, path, session.Cursor{})
		cursor := first.Cursor
		var steps []session.Entry
		for rest != "" {
			n := rapid.IntRange(1, len(rest)).Draw(t, "step")
			begin, rest = begin+rest[:n], rest[n:]
			appendTo(t, path, begin[len(begin)-n:])
			reading := mustRead(t, path, cursor)
			steps = append(steps, reading.Entries...)
			cursor = reading.Cursor
		}
		once := mustRead(t, path, first.Cursor)
		if diff := cmp.Diff(once.Entries, merge(steps)); diff != "" || cursor != once.Cursor {
			t.Fatalf("at once against in steps: %s", diff)
		}
	})
}

// Whatever lies in a transcript, of a session or of a sub-agent.
func FuzzRead(f *testing.F) {
	for _, piece := range hosttest.Excerpts(f, "testdata/transcripts/*.jsonl") {
		f.Add(piece, len(piece)/2)
	}
	f.Add([]byte(answer("msg_1", 1, 1, "end_turn", call)+"\n"+boundary+"\n"+summary+"\n"), 10)
	f.Add([]byte(apiError+"\r\n"+micro+"\nhalf"), 0)
	f.Add([]byte("\x00\n\n{}\n"), 1)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, first int) {
		for _, name := range []string{"session", "agent-a"} {
			hosttest.Reads(t, New(nil), filepath.Join(dir, fmt.Sprint(name, os.Getpid(), ".jsonl")), content, first)
		}
	})
}

// readContent reads what is appended to a file that had begun with the given lines.
func readContent(t *testing.T, name, begin, content string) session.Reading {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(begin), 0o600); err != nil {
		t.Fatal(err)
	}
	cursor := mustRead(t, path, session.Cursor{}).Cursor
	appendTo(t, path, content)
	return mustRead(t, path, cursor)
}

type fataler interface{ Fatal(...any) }

func mustRead(t fataler, path string, from session.Cursor) session.Reading {
	reading, err := New(nil).Read(context.Background(), path, from)
	if err != nil {
		t.Fatal(err)
	}
	return reading
}

func appendTo(t fataler, path, more string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(more); err != nil {
		t.Fatal(err)
	}
}

// brief renders entries as a person would tell them, without their content.
func brief(entries []session.Entry) (out []string) {
	for _, e := range entries {
		var parts []string
		if r := e.Report; r != nil {
			parts = append(parts, fmt.Sprintf("%s %d output %d", r.MessageID, r.Tokens, r.Tuple.Output))
		}
		if b := e.Boundary; b != nil {
			kind := "boundary"
			if b.Micro {
				kind = "micro"
			}
			parts = append(parts, fmt.Sprintf("%s %s %d to %d", kind, b.ID, b.PreTokens, b.PostTokens))
			if b.Summary != "" {
				parts[len(parts)-1] += fmt.Sprintf(": %q", b.Summary)
			}
		}
		if l := e.Limit; l != nil {
			parts = append(parts, fmt.Sprintf("limit %d > %d", l.SentTokens, l.MaxTokens))
		}
		if e.Title != "" {
			parts = append(parts, fmt.Sprintf("title %q", e.Title))
		}
		for _, p := range e.Paths {
			parts = append(parts, useNames[p.Use]+" "+p.Path)
		}
		if len(parts) > 0 || len(e.Content) == 0 {
			out = append(out, strings.Join(parts, ", "))
		}
	}
	return out
}
