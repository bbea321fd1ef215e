package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/session"
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
