package token_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ctxls/ctxls/internal/core/token"
)

func goCode(n int) string {
	var out []byte
	for _, g := range []string{"net/http/*.go", "go/types/*.go", "encoding/*/*.go", "os/*.go"} {
		fs, _ := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", g))
		for _, f := range fs {
			b, _ := os.ReadFile(f)
			out = append(out, b...)
			if len(out) >= n {
				return string(out[:n])
			}
		}
	}
	return string(out)
}

func BenchmarkCount(b *testing.B) {
	prose, _ := os.ReadFile(filepath.Join(runtime.GOROOT(), "src/testdata/Isaac.Newton-Opticks.txt"))
	for _, c := range []struct{ name, text string }{{"code", goCode(1 << 20)}, {"prose", string(prose)}} {
		for _, n := range []string{token.Cl100k, token.O200k} {
			e, _ := token.Get(n)
			b.Run(c.name+"/"+n, func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					e.Count(c.text)
				}
			})
		}
	}
}
func BenchmarkOracle(b *testing.B) {
	prose, _ := os.ReadFile(filepath.Join(runtime.GOROOT(), "src/testdata/Isaac.Newton-Opticks.txt"))
	for _, c := range []struct{ name, text string }{{"code", goCode(1 << 20)}, {"prose", string(prose)}} {
		for _, n := range []string{token.Cl100k, token.O200k} {
			o := oracle()[n]
			b.Run(c.name+"/"+n, func(b *testing.B) {
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					o.EncodeOrdinary(c.text)
				}
			})
		}
	}
}
