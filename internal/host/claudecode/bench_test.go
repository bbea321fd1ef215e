package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/survival"
)

// BenchmarkRead reads transcripts of a megabyte and of a gigabyte: after each hook, and at first sight.
func BenchmarkRead(b *testing.B) {
	turn := prompt + "\n" + attachment + "\n" + answer("msg_1", 100_000, 77, "tool_use", call) + "\n" +
		`{"isSidechain":false,"type":"user","message":{"content":[{"type":"tool_result","content":"` + strings.Repeat("x ", 2000) +
		`"}]},"toolUseResult":{"content":"` + strings.Repeat("x ", 2000) + `"}}` + "\n"
	for _, size := range []int64{1 << 20, 1 << 30} {
		path := filepath.Join(b.TempDir(), "session.jsonl")
		// Lines where a read may come, and before them a hole: a gigabyte that takes no room.
		tail := strings.Repeat(turn, int(min(size, 20<<20))/len(turn))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		if err := os.Truncate(path, size-int64(len(tail))); err != nil {
			b.Fatal(err)
		}
		appendTo(b, path, tail)
		end := mustRead(b, path, session.Cursor{}).Cursor

		b.Run(fmt.Sprintf("next/%dMB", size>>20), func(b *testing.B) {
			from := end
			from.Offset -= int64(4 * len(turn))
			b.ReportAllocs()
			for b.Loop() {
				if r := mustRead(b, path, from); len(r.Entries) == 0 {
					b.Fatal("read nothing")
				}
			}
		})
		b.Run(fmt.Sprintf("first/%dMB", size>>20), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := mustRead(b, path, session.Cursor{}); len(r.Entries) == 0 {
					b.Fatal("read nothing")
				}
			}
		})
	}
}

// BenchmarkDecode decodes a small payload and one with ten megabytes of tool output.
func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 20} {
		payload := []byte(`{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/p/a.go"},` +
			`"tool_response":{"content":"` + strings.Repeat(`line \"of\" output\n`, size/19) + `"}}`)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			a := New(nil)
			for b.Loop() {
				if _, err := a.Decode("", payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHistory reads 16 MB of a transcript back, as the hook of a compaction does, and chooses what is given back. Most of the bytes
// are results, as in real transcripts.
func BenchmarkHistory(b *testing.B) {
	path := filepath.Join(b.TempDir(), "session.jsonl")
	result := strings.Repeat(`\tif err != nil { return \"what is \\n wrong\" }\n`, 120)
	var record strings.Builder
	for n := 0; record.Len() < 16<<20; n++ {
		if n%40 == 0 {
			fmt.Fprintf(&record, `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Never edit the generated files of part %d by hand, please."},"timestamp":"2026-11-21T10:00:00.000Z"}`+"\n", n)
		}
		if n%400 == 399 {
			fmt.Fprintf(&record, `{"type":"system","subtype":"compact_boundary","uuid":"b%d","timestamp":"2026-11-21T10:00:00.000Z","compactMetadata":{"trigger":"auto","preTokens":160000}}`+"\n", n)
		}
		fmt.Fprintf(&record, `{"parentUuid":"p","isSidechain":false,"cwd":"/p","version":"2.1.237","message":{"model":"claude-opus-4-6","id":"msg_%d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./internal/part%d && git status","description":"Run the tests"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"cache_read_input_tokens":%d,"output_tokens":77}},"type":"assistant","timestamp":"2026-11-21T10:00:00.000Z"}`+"\n", n, n, n%200, 1000+n)
		fmt.Fprintf(&record, `{"parentUuid":"p","isSidechain":false,"cwd":"/p","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s","is_error":false}]},"timestamp":"2026-11-21T10:00:00.000Z","toolUseResult":{"stdout":"%s"}}`+"\n", n, result, result)
	}
	if err := os.WriteFile(path, []byte(record.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	tools, now := New(nil).Rules().Tools, time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		c := survival.Collector{Tools: tools}
		if err := (Records{}).History(b.Context(), core.Record{Path: path}, false, func(e session.Entry) bool {
			c.Add(e)
			return true
		}); err != nil {
			b.Fatal(err)
		}
		past := c.Past()
		words := past.Words(survival.Earlier, survival.WordTokens, func(s string) int { return len(s) / 4 }, now)
		if commands := past.Chosen(survival.CommandTokens, now); len(words) == 0 || len(commands) == 0 {
			b.Fatalf("%d words and %d commands are given back", len(words), len(commands))
		}
	}
}
