package conversation

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// longConversation is an agent's session of at least the given size: prose, calls, and results with files from Go's own
// source tree.
func longConversation(b *testing.B, tokens int) []string {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", "net", "http", "*.go"))
	if len(files) == 0 {
		b.Skipf("no Go source tree at %q to make a conversation of: %v", root, err)
	}
	counter, _ := token.Get(token.Cl100k)
	messages := []string{`{"role":"system","content":"You are a careful engineer."}`, user("Read the package and say how connections are reused.")}
	for i, total := 0, 0; total < tokens; i++ {
		source, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			b.Fatal(err)
		}
		text := string(source[:min(len(source), 12_000)])
		id := fmt.Sprintf("call_%d", i)
		arguments := quote(fmt.Sprintf(`{"path":"src/net/http/%d.go"}`, i))
		messages = append(messages,
			`{"role":"assistant","content":"I read on.","tool_calls":[{"id":"`+id+`","type":"function","function":{"name":"read","arguments":`+arguments+`}}]}`,
			`{"role":"tool","tool_call_id":"`+id+`","content":`+quote(text)+`}`)
		total += counter.Count(text)
	}
	return messages
}

func BenchmarkMeasure200k(b *testing.B) {
	messages := longConversation(b, 200_000)
	known, grown := conversation(messages[:len(messages)-1]...), conversation(messages...)
	b.Run("first", func(b *testing.B) {
		b.SetBytes(int64(len(grown.Messages)))
		for b.Loop() {
			if _, err := testMeter().Measure(MeasureRequest{Conversation: grown}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one-new", func(b *testing.B) {
		b.SetBytes(int64(len(grown.Messages)))
		for b.Loop() {
			b.StopTimer()
			meter := testMeter()
			if _, err := meter.Measure(MeasureRequest{Conversation: known}); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if _, err := meter.Measure(MeasureRequest{Conversation: grown}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTrim shows that the time is linear in the length of the input.
func BenchmarkTrim(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		var messages []string
		for i := 0; len(messages) < n; i++ {
			id := fmt.Sprintf("call_%d", i)
			messages = append(messages, user(fmt.Sprintf("Please look at file %d.", i)),
				`{"role":"assistant","tool_calls":[{"id":"`+id+`","type":"function","function":{"name":"read","arguments":"{}"}}]}`,
				`{"role":"tool","tool_call_id":"`+id+`","content":"`+strings.Repeat("line ", 20)+id+`"}`, assistant("Done."))
		}
		c := conversation(messages...)
		for _, strategy := range []string{"oldest", "toolResults"} {
			b.Run(fmt.Sprintf("%d/%s", n, strategy), func(b *testing.B) {
				b.SetBytes(int64(len(c.Messages)))
				for b.Loop() {
					got, err := testMeter().Trim(TrimRequest{Conversation: c, TargetTokens: new(5 * n), Strategy: strategy})
					if err != nil || !got.Satisfied {
						b.Fatal(got.Satisfied, err)
					}
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	doc := []byte(conversation(longConversation(b, 200_000)...).Messages)
	b.Run("ctxls", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			if _, err := jsonscan.Parse(doc, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			if !json.Valid(doc) {
				b.Fatal("not valid")
			}
		}
	})
}
