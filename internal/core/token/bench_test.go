package token_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/tiktoken-go/tokenizer"
)

// The benchmarks count the same texts with ours, tiktoken-go and tiktoken-go/tokenizer, one thread,
// over and over: ours knows the words of the text by then (see scratch, and BenchmarkRivals
// for the difference); b.SetBytes makes go test print MB/s.
//
//	go test -run '^$' -bench Count -count 6 ./internal/core/token | tee new.txt
//	benchstat -col /by new.txt

// workload is a text to count. Where tiktoken-go is quadratic, the other counters get only the first slow bytes, and
// their MB/s then looks too high.
type workload struct {
	name string
	text string
	slow int // bytes for the others, 0 for all
}

const mega = 1 << 20

func workloads(tb testing.TB) []workload {
	random := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, mega*3/4)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	script := func(name string) string {
		data, err := os.ReadFile("testdata/scripts.txt")
		if err != nil {
			tb.Fatal(err)
		}
		_, text, _ := strings.Cut(string(data), "== "+name+"\n")
		text, _, _ = strings.Cut(text, "\n== ")
		return text
	}
	repeat := func(text string, n int) string { return strings.Repeat(text, n/len(text)) }
	shuffled := func(alphabet string, n int) string {
		letters := []rune(alphabet)
		var b strings.Builder
		for b.Len() < n {
			b.WriteRune(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	// A natural text, with its lines in random order.
	declaration := func(names ...string) string {
		data, err := os.ReadFile("testdata/declaration.txt")
		if err != nil {
			tb.Fatal(err)
		}
		var lines []string
		for _, name := range names {
			_, text, _ := strings.Cut(string(data), "== "+name+"\n")
			text, _, _ = strings.Cut(text, "\n\n== ")
			lines = append(lines, strings.Split(text, "\n")...)
		}
		var b strings.Builder
		for b.Len() < mega {
			b.WriteString(lines[random.IntN(len(lines))] + "\n")
		}
		return b.String()
	}
	code := goSource(tb, mega)
	return []workload{
		{"code", code, 0},
		{"prose", prose(tb), 0},
		{"json", jsonLines(random, mega), 0},
		{"cjk", shuffled(script("Han, simplified")+script("Japanese")+script("Hangul"), mega), 0},
		{"base64", base64.StdEncoding.EncodeToString(noise), 256 << 10},
		{"minified", minified(tb), 0},
		{"unspaced", strings.Join(strings.Fields(code), ""), 256 << 10},
		{"random-bytes", string(noise), 0},
		{"random-letters", shuffled("abcdefghijklmnopqrstuvwxyz", mega), 4 << 10},
		{"one-letter", repeat("a", mega), 4 << 10},
		{"spaces", repeat(" ", mega), 4 << 10},
		{"newlines", repeat("\n", mega), 4 << 10},
		{"equals", repeat("=", mega), 4 << 10},
		{"equals-dashes", shuffled("======-", mega), 4 << 10},
		{"two-letters", shuffled("ab", mega), 4 << 10},
		{"marks", repeat("\u0301", mega), 4 << 10},
		{"emoji", shuffled("😀👍🏽👩\u200d💻❤\ufe0f🎉🇩🇪", mega), 4 << 10},
		{"digits", shuffled("0123456789", mega), 0},
		{"nul", repeat("\x00", mega), 4 << 10},
		{"cyrillic", declaration("Cyrillic"), 64 << 10},
		{"arabic", declaration("Arabic"), 64 << 10},
		{"devanagari", declaration("Devanagari"), 64 << 10},
		{"thai", declaration("Thai"), 64 << 10},
		{"korean", declaration("Korean"), 64 << 10},
		{"chinese", declaration("Chinese"), 64 << 10},
		{"japanese", declaration("Japanese"), 64 << 10},
		{"markdown", markdown(tb, declaration("Chinese", "Japanese")), 64 << 10},
		{"transcript", transcript(tb), 64 << 10},
	}
}

func BenchmarkCount(b *testing.B) {
	for _, w := range workloads(b) {
		for _, name := range names {
			e := get(b, name)
			b.Run(fmt.Sprintf("text=%s/encoding=%s/by=ctxls", w.name, name), func(b *testing.B) {
				b.SetBytes(int64(len(w.text)))
				for b.Loop() {
					e.Count(w.text)
				}
			})
			b.Run(fmt.Sprintf("text=%s/encoding=%s/by=tiktoken-go", w.name, name), func(b *testing.B) {
				text := w.text
				if w.slow > 0 {
					text = text[:w.slow]
				}
				o := oracle()[name]
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					o.EncodeOrdinary(text)
				}
			})
			b.Run(fmt.Sprintf("text=%s/encoding=%s/by=tokenizer", w.name, name), func(b *testing.B) {
				text := w.text
				if w.slow > 0 {
					text = text[:w.slow]
				}
				t, err := tokenizer.Get(tokenizer.Encoding(name))
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, err := t.Count(text); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, w := range workloads(b)[:2] {
		for _, name := range names {
			e := get(b, name)
			b.Run(fmt.Sprintf("text=%s/encoding=%s", w.name, name), func(b *testing.B) {
				b.SetBytes(int64(len(w.text)))
				for b.Loop() {
					e.Encode(w.text)
				}
			})
		}
	}
}

// BenchmarkShort counts a text of one line, as hooks do.
func BenchmarkShort(b *testing.B) {
	const text = "Please fix the flaky test in internal/store/sqlite_test.go, then run everything again."
	e := get(b, token.O200k)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		e.Count(text)
	}
}

// BenchmarkReady measures the time from a program's start to its first count: it gets the encoding and counts a first
// word.
func BenchmarkReady(b *testing.B) {
	for b.Loop() {
		e, err := token.Get(token.O200k)
		if err != nil || e.Count("ready") != 1 {
			b.Fatal(err)
		}
	}
}

// goRoot returns the source tree of the go command that runs this test.
func goRoot(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skipf("no go command, and so no Go source tree: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// goSource is n bytes of Go's own standard library.
func goSource(tb testing.TB, n int) string {
	var code strings.Builder
	for _, pattern := range []string{"net/http/*.go", "go/types/*.go", "encoding/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(goRoot(tb), "src", filepath.FromSlash(pattern)))
		if err != nil {
			tb.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			code.Write(data)
		}
	}
	if code.Len() < n {
		tb.Skipf("Go's source tree at %s has %d bytes of code, %d are needed", goRoot(tb), code.Len(), n)
	}
	return code.String()[:n]
}

// prose is Newton's Opticks, which Go's source tree has for its own benchmarks.
func prose(tb testing.TB) string {
	data, err := os.ReadFile(filepath.Join(goRoot(tb), "src", "testdata", "Isaac.Newton-Opticks.txt"))
	if err != nil {
		tb.Skip(err)
	}
	return string(data)
}

// markdown is our own documents, with a line of another text after every third line.
func markdown(tb testing.TB, other string) string {
	files, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(files) == 0 {
		tb.Fatal(err, len(files), " documents")
	}
	lines := strings.Split(other, "\n")
	var b strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			b.WriteString(line + "\n")
			if i%3 == 2 {
				fmt.Fprintf(&b, "- **`%d`**：%s\n", i, lines[i%len(lines)])
			}
		}
	}
	return b.String()
}

// transcript is transcripts of real agents, from the directory $CTXLS_SAMPLES or from our test data.
func transcript(tb testing.TB) string {
	var b strings.Builder
	root := os.Getenv("CTXLS_SAMPLES")
	if root == "" {
		root = "../../host"
	}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		b.Write(data)
		return err
	})
	if err != nil || b.Len() == 0 {
		tb.Fatalf("no transcripts under %s: %v", root, err)
	}
	return b.String()
}

// minified is JavaScript from a minifier, from the trace viewer in Go's source tree.
func minified(tb testing.TB) string {
	data, err := os.ReadFile(filepath.Join(goRoot(tb), "src", "internal", "trace", "traceviewer", "static", "webcomponents.min.js"))
	if err != nil {
		tb.Skip(err)
	}
	return string(data)
}

// jsonLines returns at least n bytes of records with the kinds of values that tools return.
func jsonLines(random *rand.Rand, n int) string {
	words := strings.Fields("open closed pending review merge branch latency timeout worker request cache region europe status owner")
	word := func() string { return words[random.IntN(len(words))] }
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, `{"id":"%08x-%04x","name":"%s-%s","count":%d,"ratio":%.4f,"tags":["%s","%s"],"ok":%t,"parent":null,"at":"2025-%02d-%02dT%02d:%02d:%02dZ"}`+"\n",
			random.Uint32(), random.Uint32()>>16, word(), word(), random.IntN(100000), random.Float64(), word(), word(), random.IntN(2) == 0,
			1+random.IntN(12), 1+random.IntN(28), random.IntN(24), random.IntN(60), random.IntN(60))
	}
	return b.String()
}
