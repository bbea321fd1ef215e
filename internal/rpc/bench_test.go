package rpc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/rpc/rpctest"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// BenchmarkCall measures calls over two pipes of the operating system, through the whole server and through the library
// alone with a handler that does as much: "stream" sends without waiting, which shows what a call costs; "turn" waits for
// each reply, which adds two wake-ups through the kernel. A streamed call of 100 bytes is to cost at most 20 µs.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{100, 10_000, 1_000_000} {
		request := callOf(size)
		for _, way := range []struct {
			name string
			run  func(*testing.B, io.Writer, *bufio.Reader, string)
		}{{"stream", streamCalls}, {"turn", takeTurns}} {
			b.Run(fmt.Sprintf("%s/%dB/server", way.name, size), func(b *testing.B) {
				p := connect(b, transport.Header, Options{})
				way.run(b, p.In, p.Out, request)
			})
			b.Run(fmt.Sprintf("%s/%dB/library", way.name, size), func(b *testing.B) {
				serverIn, clientOut := rpctest.Pipe(b)
				clientIn, serverOut := rpctest.Pipe(b)
				conn := jsonrpc2.NewConn(jsonrpc2.NewStream(twoPipes{serverIn, serverOut}))
				conn.Go(context.Background(), jsonrpc2.AsyncHandler(func(_ context.Context, req *jsonrpc2.Request) (any, error) {
					return jsonrpc2.RawMessage(strconv.Itoa(len(req.Params()))), nil
				}))
				way.run(b, clientOut, bufio.NewReader(clientIn), request)
			})
		}
	}
}

// callOf returns a call whose body has about size bytes.
func callOf(size int) string {
	const call = `{"jsonrpc":"2.0","id":1,"method":"test/length","params":{"text":"%s"}}`
	return framed(transport.Header, fmt.Sprintf(call, strings.Repeat("a", size-len(call)+2)))
}

func takeTurns(b *testing.B, in io.Writer, out *bufio.Reader, request string) {
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(in, request); err != nil {
			b.Fatal(err)
		}
		wantResult(b, out)
	}
}

func streamCalls(b *testing.B, in io.Writer, out *bufio.Reader, request string) {
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for range b.N {
			if _, err := io.WriteString(in, request); err != nil {
				return
			}
		}
	}()
	for range b.N {
		wantResult(b, out)
	}
}

// wantResult reads one reply at little cost.
func wantResult(b *testing.B, out *bufio.Reader) {
	header, err := out.ReadSlice('\n')
	if err != nil {
		b.Fatal(err)
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(bytes.TrimPrefix(header, []byte("Content-Length:")))))
	if err != nil {
		b.Fatal(err)
	}
	reply, err := out.Peek(2 + n)
	if err != nil || !bytes.Contains(reply, []byte(`"result"`)) {
		b.Fatalf("%s, %v", reply, err)
	}
	out.Discard(2 + n)
}

// twoPipes reads from one pipe and writes to another.
type twoPipes struct {
	*os.File
	out *os.File
}

func (p twoPipes) Write(b []byte) (int, error) { return p.out.Write(b) }
