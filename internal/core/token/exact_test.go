package token_test

import (
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// atoms are the parts of random texts: characters of each class and width, the special cases of the patterns, and runs
// that become long tokens.
var atoms = []string{
	"a", "b", "s", "t", "re", "ll", "the", "ing", "tion", "A", "B", "S", "LL", "HTTP", "é", "ß", "Ж", "ж", "ǅ", "ʰ", "ª", "中", "文字", "か", "한",
	"\u0301", "\u0300\u0302", "\u200d", "\ufe0f", "ि", "1", "23", "456", "7890", "٣", "½", "Ⅷ", "²",
	" ", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\v", "\f", "\u00a0", "\u3000", "\u2028", "\u0085",
	"'", "'s", "'S", "'re", "'Ll", "’s", "'ſ", ".", ",", "/", "//", "_", "-", "--", "===", "(", ")", "{", "}", ");", "<|endoftext|>", "\"", "\\n",
	"\x00", "\x01", "\x7f", "\ufffd", "\xff", "\xc3", "\xe4\xb8", "\xed\xa0\x80", "😀", "👩🏽", "𝒳", "\U000e0041", "\U0010ffff",
	"aaaaaaaa", "AAAAAAAA", "        ", "========", "--------", "\n\n\n\n\n\n\n\n", "zqxjkv", "abababab",
}

func genText() *rapid.Generator[string] {
	text := rapid.Custom(func(t *rapid.T) string {
		// Few different atoms make long pieces and repetitions; many make edges.
		some := rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 8).Draw(t, "atoms")
		n := rapid.IntRange(0, 100).Draw(t, "length")
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(some), n, n).Draw(t, "text"), "")
	})
	bytes := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 100), func(b []byte) string { return string(b) })
	return rapid.OneOf(text, text, bytes, rapid.String())
}

func TestRandomTexts(t *testing.T) {
	for _, name := range names {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			if diff := differs(t, name, genText().Draw(t, "text")); diff != "" {
				t.Fatal(diff)
			}
		}))
	}
}

// Decoding the IDs gives the text, with U+FFFD for bytes that are not UTF-8.
func TestDecode(t *testing.T) {
	for _, name := range names {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			text := genText().Draw(t, "text")
			e := get(t, name)
			ids := e.Encode(text)
			ints := make([]int, len(ids))
			for i, id := range ids {
				ints[i] = int(id)
			}
			if got, want := oracle()[name].Decode(ints), string([]rune(text)); got != want {
				t.Fatalf("decoded %q, want %q", got, want)
			}
			if n := e.Count(text); n != len(ids) {
				t.Fatalf("Count is %d, Encode gives %d ids", n, len(ids))
			}
		}))
	}
}

// One or two repeated characters reveal a slow encoder, and the shortcuts of a fast one. These texts are short, since
// tiktoken-go takes the square of a run's length.
func TestRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{"a", "A", " ", "\n", "=", "-", "*", "\x00", "é", "中", "\u0301", "😀", "\t", "ab", "=-", " \t", "\n ", "aA", "0a", "ﷺ", "的一", "az09+/", "\u0301x", "中\u0301", "e\u0301 "} {
		letters := []rune(alphabet)
		for n := range 200 {
			same(t, strings.Repeat(alphabet, n/len(alphabet))+alphabet[:n%len(alphabet)])
			if n%10 == 0 {
				var b strings.Builder
				for range n * 2 {
					b.WriteRune(letters[random.IntN(len(letters))])
				}
				same(t, b.String())
			}
			if t.Failed() {
				return
			}
		}
	}
}

var corpusBytes = flag.Int("corpus", 1<<20, "how many bytes of Go's own source tree to compare with tiktoken-go; 0 for all")

// longestRun is the longest run without white space, in bytes, that the corpus test gives to tiktoken-go. It takes 40 ms
// for 8 KiB of one letter, and the square beyond that.
const longestRun = 8 << 10

// Go's own source tree: code, assembly, test data, text and HTML. The chosen files are spread evenly over the tree.
func TestCorpus(t *testing.T) {
	root := filepath.Join(goRoot(t), "src")
	var files []string
	total := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() < 1<<20 {
			files = append(files, path)
			total += int(info.Size())
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Skipf("no Go source tree at %s: %v", root, err)
	}
	step := 1.0
	if *corpusBytes > 0 && *corpusBytes < total {
		step = float64(total) / float64(*corpusBytes)
	}
	compared, skipped := 0, 0
	for at := 0.0; int(at) < len(files) && !t.Failed(); at += step {
		data, err := os.ReadFile(files[int(at)])
		if err != nil {
			t.Fatal(err)
		}
		if hasRun(data, longestRun) {
			skipped++
			continue
		}
		compared += len(data)
		same(t, string(data))
		if t.Failed() {
			t.Log("in ", files[int(at)])
		}
	}
	t.Logf("compared %d bytes of %d, skipped %d files with a run of over %d bytes", compared, total, skipped, longestRun)
}

func hasRun(data []byte, longest int) bool {
	run := 0
	for _, c := range data {
		if run++; c == ' ' || c == '\n' || c == '\t' {
			run = 0
		}
		if run > longest {
			return true
		}
	}
	return false
}

// Damaged source code: changed, removed, repeated and truncated bytes.
func TestMutatedCode(t *testing.T) {
	code := goSource(t, 400<<10)
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		at := random.IntN(len(code) - 2000)
		text := []byte(code[at : at+random.IntN(2000)])
		for range random.IntN(40) {
			if len(text) < 2 {
				break
			}
			i := random.IntN(len(text))
			switch atom := atoms[random.IntN(len(atoms))]; random.IntN(4) {
			case 0:
				text[i] = byte(random.Uint32())
			case 1:
				text = append(text[:i], text[i+1:]...)
			case 2:
				text = append(text[:i], append([]byte(atom), text[i:]...)...)
			case 3:
				text = append(text[:i], append([]byte(strings.Repeat(atom, random.IntN(30))), text[i:]...)...)
			}
		}
		if same(t, string(text)); t.Failed() {
			return
		}
	}
}

func FuzzEncode(f *testing.F) {
	scripts, err := os.ReadFile("testdata/scripts.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range strings.Split(string(scripts), "\n") {
		f.Add(line)
	}
	f.Add(strings.Join(atoms, ""))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			text = text[:4<<10] // tiktoken-go is quadratic in a run
		}
		same(t, text)
	})
}

// Tokens of the vocabularies next to each other, in every order. Their borders are where a text may or may not be cut.
// If a token begins or ends with a part of a character, the neighboring tokens complete it.
func TestShuffledTokens(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for _, name := range names {
		beyond := map[string][]string{} // tokens with bytes beyond ASCII, by their first character
		var leads []string
		for _, token := range tokens(t, name) {
			if strings.IndexFunc(token, func(r rune) bool { return r > 0x7f }) < 0 {
				continue
			}
			lead := token[:1]
			if beyond[lead] == nil {
				leads = append(leads, lead)
			}
			beyond[lead] = append(beyond[lead], token)
		}
		for range 20_000 {
			var text strings.Builder
			some := [2]string{leads[random.IntN(len(leads))], leads[random.IntN(len(leads))]}
			for range 1 + random.IntN(20) {
				choice := beyond[some[random.IntN(2)]]
				text.WriteString(choice[random.IntN(len(choice))])
			}
			if diff := differs(t, name, text.String()); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}
