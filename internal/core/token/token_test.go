package token_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

var oracle = sync.OnceValue(func() map[string]*tiktoken.Tiktoken {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	m := map[string]*tiktoken.Tiktoken{}
	for _, n := range []string{token.Cl100k, token.O200k} {
		t, err := tiktoken.GetEncoding(n)
		if err != nil {
			panic(err)
		}
		m[n] = t
	}
	return m
})

func check(t *testing.T, text string) {
	t.Helper()
	for n, o := range oracle() {
		e, _ := token.Get(n)
		var want []uint32
		for _, id := range o.EncodeOrdinary(text) {
			want = append(want, uint32(id))
		}
		got := e.Encode(text)
		if !slices.Equal(got, want) {
			k := 0
			for k < len(got) && k < len(want) && got[k] == want[k] {
				k++
			}
			t.Errorf("%s: %.200q: token %d differs: got %v want %v", n, text, k, got[k:min(k+5, len(got))], want[k:min(k+5, len(want))])
		}
		if c := e.Count(text); c != len(want) {
			t.Errorf("%s: %.200q: count %d want %d", n, text, c, len(want))
		}
	}
}

func TestCorpus(t *testing.T) {
	start := time.Now()
	n := 0
	for _, g := range []string{"unicode/*.go", "unicode/utf8/*.go", "strings/*.go", "net/http/*.go", "encoding/json/*.go", "regexp/testdata/*"} {
		fs, _ := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", g))
		for _, f := range fs {
			b, _ := os.ReadFile(f)
			if len(b) > 200_000 {
				b = b[:200_000]
			}
			check(t, string(b))
			n += len(b)
			if t.Failed() || time.Since(start) > 40*time.Second {
				t.Log(f, n)
				return
			}
		}
	}
	t.Log(n)
}

func TestWorst(t *testing.T) {
	for _, u := range []string{"a", "A", " ", "\n", "\u0301", "😀👍🏽", "ab", "=", "中文字", "\x00", "1"} {
		s := strings.Repeat(u, 1<<20/len(u))
		for _, n := range []string{token.Cl100k, token.O200k} {
			e, _ := token.Get(n)
			t0 := time.Now()
			c := e.Count(s)
			t.Logf("%q %s %d %v", u, n, c, time.Since(t0))
		}
		check(t, s[:2000])
	}
}
