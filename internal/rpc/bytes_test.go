package rpc

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// TestBadBytes sends bytes that are not a message, and checks the answer and whether the connection continues.
func TestBadBytes(t *testing.T) {
	const echo = `{"jsonrpc":"2.0","id":1,"method":"test/echo","params":["\ud800"]}`
	repeat := strings.Repeat
	tests := []struct {
		name    string
		framing transport.Framing
		send    string
		code    int    // of the one error with a null ID, 0 for none
		says    string // in its message
		lives   bool
	}{
		{"no JSON", transport.Header, framed(transport.Header, "nonsense"), -32700, "not valid JSON", true},
		{"no JSON on a line", transport.Line, "{nonsense\n", -32700, "not valid JSON", true},
		{"byte order mark in a body", transport.Header, framed(transport.Header, "\ufeff"+echo), -32700, "not valid JSON", true},
		{"byte order mark before everything", transport.Line, "\ufeff" + `{"jsonrpc":"2.0","method":"x"}` + "\n", 0, "", true},
		{"deep nesting", transport.Line, repeat("[", 100_000) + repeat("]", 100_000) + "\n", -32700, "nested deeper than 10000 levels", true},
		{"lone surrogate", transport.Line, `{"jsonrpc":"2.0","method":"test/echo","params":["\udc00"]}` + "\n", 0, "", true},
		{"invalid UTF-8", transport.Line, "{\"jsonrpc\":\"2.0\",\"method\":\"test/echo\",\"params\":[\"\xff\xfe\"]}\n", 0, "", true},
		{"blank lines", transport.Line, "\n \r\n\t\n" + echo[:0], 0, "", true},

		{"body over the limit", transport.Header, framed(transport.Header, repeat(" ", 65<<20)), -32013, "at most 67108864 bytes", true},
		{"line over the limit", transport.Line, "[" + repeat(" ", 65<<20) + "]\n", -32013, "at most 67108864 bytes", true},
		{"batch over the limit", transport.Line, "[" + repeat(echo+",", 299) + echo + "]\n", -32600, "more than 256 members", true},
		{"batch of 300 numbers", transport.Header, framed(transport.Header, "["+repeat("1,", 299)+"1]"), -32600, "more than 256 members", true},

		{"200,000 bytes in one header", transport.Header, "X-Long: " + repeat("a", 200_000) + "\r\n", -32700, "more than 4096 bytes", false},
		{"200,000 bytes in many headers", transport.Header, repeat("X-Many: a\r\n", 20_000), -32700, "more than 4096 bytes", false},
		{"200,000 bytes and no line", transport.Header, repeat("a", 200_000), -32700, "more than 4096 bytes", false},
		{"no length", transport.Header, "Content-Type: x\r\n\r\n", -32700, "without Content-Length", false},
		{"empty body", transport.Header, "Content-Length: 0\r\n\r\n", -32700, "not valid JSON", true},
		{"negative length", transport.Header, "Content-Length: -5\r\n\r\n", -32700, `"-5"`, false},
		{"signed length", transport.Header, "Content-Length: +5\r\n\r\n", -32700, `"+5"`, false},
		{"length that is no number", transport.Header, "Content-Length: many\r\n\r\n", -32700, `"many"`, false},
		{"length that overflows", transport.Header, "Content-Length: 99999999999999999999\r\n\r\n", -32700, `"99999999999999999999"`, false},
		{"two lengths", transport.Header, "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", -32700, "given twice", false},
		{"no colon", transport.Header, "Content-Length 5\r\n\r\n", -32700, "expected a header line", false},
		{"a line among headers", transport.Header, framed(transport.Header, `{"jsonrpc":"2.0","method":"x"}`) + echo + "\n", -32700, "expected a header line", false},
		{"the same length twice", transport.Header, "Content-Length: 4\r\nContent-Length: 4\r\n\r\nnull", -32600, "got null", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := connect(t, test.framing, Options{})
			go func() {
				io.WriteString(p.In, test.send)
				io.WriteString(p.In, framed(test.framing, echo))
			}()
			if test.code != 0 {
				r := p.reply()
				if r.ID != nil || r.Error == nil || r.Error.Code != test.code || !strings.Contains(r.Error.Message, test.says) {
					t.Fatalf("got %+v %+v, want error %d with %q", r, r.Error, test.code, test.says)
				}
			}
			if test.lives {
				p.want(`{"jsonrpc":"2.0","id":1,"result":["\ud800"]}`)
				p.In.Close()
				p.wantEnd(nil)
			} else {
				p.wantEnd(transport.ErrFraming)
			}
		})
	}
}

// Input that ends inside a message is answered like any other broken framing.
func TestTruncatedInput(t *testing.T) {
	for _, sent := range []string{"Content-Len", "Content-Length: 5\r\n", "Content-Length: 5\r\n\r\n", "Content-Length: 5\r\n\r\n{"} {
		p := connect(t, transport.Header, Options{})
		io.WriteString(p.In, sent)
		p.In.Close()
		if r := p.reply(); r.Error.Code != -32700 || !strings.Contains(r.Error.Message, "the input ended") {
			t.Errorf("after %q: %+v", sent, r)
		}
		p.wantEnd(transport.ErrFraming)
	}
	// The last line needs no line break.
	p := connect(t, transport.Line, Options{})
	io.WriteString(p.In, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`)
	p.In.Close()
	p.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	p.wantEnd(nil)
}

// The caller sets the limit, and a body of exactly that size is accepted.
func TestBodyLimit(t *testing.T) {
	for _, framing := range []transport.Framing{transport.Line, transport.Header} {
		p := connect(t, framing, Options{MaxBody: 100})
		body := func(size int) string {
			const call = `{"jsonrpc":"2.0","id":1,"method":"test/length","params":"%s"}`
			return fmt.Sprintf(call, strings.Repeat("a", size-len(call)+2))
		}
		p.send(body(100))
		p.want(`{"jsonrpc":"2.0","id":1,"result":43}`)
		p.send(body(101))
		if r := p.reply(); r.ID != nil || r.Error.Code != codeOfTooLarge {
			t.Errorf("got %+v", r)
		}
		p.send(body(100))
		p.want(`{"jsonrpc":"2.0","id":1,"result":43}`)
	}
}

// Unless the caller chose a framing, the first byte determines it.
func TestDetection(t *testing.T) {
	tests := []struct {
		chosen transport.Framing
		send   string
		want   transport.Framing
	}{
		{transport.Auto, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}` + "\n", transport.Line},
		{"", "\r\n \t" + `[{"jsonrpc":"2.0","id":1,"method":"test/echo"}]` + "\n", transport.Line},
		{transport.Auto, framed(transport.Header, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`), transport.Header},
		{transport.Auto, "\ufeff\n" + framed(transport.Header, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`), transport.Header},
		{transport.Header, framed(transport.Header, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`), transport.Header},
		{transport.Line, ` {"jsonrpc":"2.0","id":1,"method":"test/echo"}` + "\r\n", transport.Line},
	}
	for _, test := range tests {
		p := connect(t, test.want, Options{Framing: test.chosen})
		io.WriteString(p.In, test.send)
		if got, err := p.receive(); err != nil || !strings.Contains(got, `"id":1,"result":{}`) {
			t.Errorf("%q with framing %q: got %q, %v", test.send, test.chosen, got, err)
		}
	}
}

// In line framing a reply is one line, even if its parts contained line breaks between tokens.
func TestReplyIsOneLine(t *testing.T) {
	p := connect(t, transport.Line, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"test/pretty"}`)
	p.want("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{   \"a\": 1 }}")
}

// Params of any size arrive as they were sent, in both framings and beside one another: large ones go around the library, which reuses its buffer.
func TestLargeParams(t *testing.T) {
	for _, framing := range []transport.Framing{transport.Header, transport.Line} {
		p := connect(t, framing, Options{})
		want, messages := map[string]string{}, []string{}
		for i := range 8 {
			for _, size := range []int{10, 64<<10 - 5, 64<<10 - 4, 300_000} {
				id := fmt.Sprintf("%d-%d", i, size)
				want[id] = `["` + strings.Repeat(string(rune('a'+i)), size) + `"]`
				messages = append(messages, `{"jsonrpc":"2.0","params":`+want[id]+`,"id":"`+id+`","method":"test/echo"}`)
			}
		}
		go func() {
			for _, message := range messages {
				p.send(message)
			}
		}()
		for range messages {
			reply := p.reply()
			if id, _ := reply.ID.(string); string(reply.Result) != want[id] {
				t.Errorf("%s framing: %v: got %d bytes %.20s…, want %d bytes %.20s…", framing, reply.ID, len(reply.Result), reply.Result, len(want[id]), want[id])
			}
		}
	}
}
