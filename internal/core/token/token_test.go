package token_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ctxls/ctxls/internal/core/token"
)

func Example() {
	encoding, err := token.Get(token.O200k)
	if err != nil {
		panic(err)
	}
	fmt.Println(encoding.Count("hello world"))
	fmt.Println(encoding.Encode("hello world"))
	// Output:
	// 2
	// [24912 2375]
}

func TestGet(t *testing.T) {
	for _, name := range names {
		if got := get(t, name).Name(); got != name {
			t.Errorf("Get(%q).Name() = %q", name, got)
		}
	}
	const want = `unknown encoding "p50k_base": cl100k_base and o200k_base are supported`
	if _, err := token.Get("p50k_base"); err == nil || err.Error() != want {
		t.Errorf("Get(p50k_base): %v, want %s", err, want)
	}
}

// An Encoding is what core counts with.
var _ token.Counter = (*token.Encoding)(nil)

func TestEmpty(t *testing.T) {
	for _, name := range names {
		e := get(t, name)
		if n, ids := e.Count(""), e.Encode(""); n != 0 || len(ids) != 0 {
			t.Errorf("%s: the empty text has %d tokens, ids %v", name, n, ids)
		}
	}
}

// Each of these was once, or could easily be, split or merged wrongly.
func TestEdges(t *testing.T) {
	for _, text := range []string{
		"<|endoftext|>", "<|fim_prefix|><|im_start|>user", "a<|endofprompt|>b",
		// Contractions: ASCII folds, other letters that fold to ASCII do not.
		"don't DON'T Don'T he'll HE'LL we'Re I'vE I'm 'tis 'sup ''s '' x's's",
		"it'\u017f it'\u212a 'ſ we'l we'ſl l'\u0130", "'re're'r 've'v 'll'l", "don’t he’ll",
		// Case.
		"camelCase PascalCase HTTPServer aB Ab ABc XMLHttpRequest ǅungla ǅ ABCǅef",
		"中A 中Ab A中 Ab中C 中中A中Bb ʰA Aʰ AʰB AʰBc ªA Aª",
		// Marks start words, belong to words, or are punctuation, depending on the encoding.
		"\u0301", "\u0301a", "a\u0301", "A\u0301b", "\u0301A", "\u0301\u0301A", " \u0301A", ".\u0301", "1\u0301", "e\u0301\u0301\u0301x",
		// White space.
		"  ", " \n", "\n ", "\n\n  x", "  \n  \n  x", "a \t b", "\t\tx", "\t \tx", " \u00a0 x", "\u00a0\u00a0x", "\u2003\u2003", "\u3000字", "\x85x", "\u0085\u0085x", "\r\n\r\n", "a\r\n  b", "   ", "    x", "\v\fx", "\u2028x\u2029",
		strings.Repeat(" ", 7) + "x", strings.Repeat(" ", 8) + "x", strings.Repeat(" ", 9) + "x", strings.Repeat("\n", 8) + "x", strings.Repeat(" ", 8) + "\n" + strings.Repeat(" ", 8),
		// Punctuation and the line ends after it; o200k_base takes slashes along.
		"{\n", "})\n\n", ");\r\n\t", " //\n/x", "...\n///\n", "!!\n/\n/\n", "a/\n/b", "-------\n", "--------\n", "-------/\n/", "?\n\u0301",
		// Numbers.
		"1", "12", "123", "1234", "1234567", "1 2", "12a", "१२३४५", "1१2२3", "①②③④", "Ⅷ", "½¾", "1²", "12²3",
		// NUL, which pads short keys, and other controls.
		"\x00", "\x00\x00", "a\x00", "\x00a", "abcdefg\x00", "abcdefgh\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", ".\x00", ".\x00\n", " \x00", "\x01\x02\x03", "\x7f",
		// Bytes that are not UTF-8.
		"\xff", "a\xffb", "\xc3", "\xc3(", "\xe4\xb8", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "ab\xe4\xb8cd\xff\xff", "\ufffd", " \xff x", "\xf0\x9f\x98",
		// Beyond the basic plane.
		"😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "𝒳𝒴𝓏", "𐐀𐐨", "🇩🇪🇫🇷", "𠀀𠀁", "\U0010ffff", "\U000e0041",
		// Eight bytes exactly, and one off: the width of a key.
		"abcdefg", "abcdefgh", "abcdefghi", " program", " programs", " function", " functions", "AAAAAAAA", "AAAAAAAa", "AAAAAAAAa", "aaaaaaaA",
		"international", "internationalization", "antidisestablishmentarianism", " responsibilities", "InternationalizationContext",
	} {
		for _, around := range []string{"%s", "x%s", "%s ", "%sx", " %s", "%s\n", "%s and then some more text", "some text before %s"} {
			same(t, strings.Replace(around, "%s", text, 1))
		}
	}
}

func TestScripts(t *testing.T) {
	data, err := os.ReadFile("testdata/scripts.txt")
	if err != nil {
		t.Fatal(err)
	}
	scripts := strings.Split(string(data), "== ")[1:]
	if len(scripts) < 20 {
		t.Fatalf("testdata/scripts.txt has %d scripts", len(scripts))
	}
	for _, script := range scripts {
		name, text, _ := strings.Cut(script, "\n")
		t.Run(name, func(t *testing.T) {
			same(t, text)
			// Texts without spaces are one long piece, and a cut at any byte can end inside a character.
			same(t, strings.Join(strings.Fields(text), ""))
			for cut := range min(len(text)/2, 40) {
				same(t, text[cut:len(text)-cut])
			}
		})
	}
}

func TestConcurrent(t *testing.T) {
	text := strings.Repeat("Unvollständigkeitssatz: xqzvkj 這是不在詞彙表中的文字 "+strings.Repeat("zq", 40), 50)
	for _, name := range names {
		e := get(t, name)
		want := e.Count(text)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i := range 20 {
					if n := e.Count(text); n != want {
						t.Errorf("%s: %d tokens in parallel, %d alone", name, n, want)
					}
					e.Count(text[:i]) // shares the scratch memory
				}
			})
		}
		wg.Wait()
	}
}

// After its scratch memory exists, counting allocates nothing, and Encode allocates only the IDs.
func TestAllocations(t *testing.T) {
	text := strings.Repeat("The quick brown xqzvkj jumps over 12 lazy dogs.\n", 100)
	for _, name := range names {
		e := get(t, name)
		e.Count(text)
		if n := testing.AllocsPerRun(100, func() { e.Count(text) }); n >= 1 {
			t.Errorf("%s: Count allocates %v times", name, n)
		}
	}
}

// A first count allocates at most 1 MiB beside the text, whatever the text, even if it is one piece of 8 MiB.
func TestMemory(t *testing.T) {
	texts := workloads(t)
	for _, letter := range []string{"a", "中", "\u0301", "=-"} {
		texts = append(texts, workload{name: "8 MiB of " + letter, text: strings.Repeat(letter, 8<<20/len(letter))})
	}
	for _, w := range texts {
		text := string([]rune(w.text))
		for _, name := range names {
			e := get(t, name)
			runtime.GC() // twice empties pools
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			e.Count(text)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
				t.Errorf("%s: counting %s allocates %d bytes", name, w.name, n)
			}
		}
	}
}
