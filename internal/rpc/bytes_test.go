package rpc

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestBadBytes sends what is no message at all. What is answered is checked, and whether the connection lives after it.
func TestBadBytes(t *testing.T) {
	const echo = `{"jsonrpc":"2.0","id":1,"method":"test/echo","params":["\ud800"]}`
	repeat := strings.Repeat
	tests := []struct {
		name    string
		framing Framing
		send    string
		code    int    // of the one error that is answered with a null id, 0 for none
		says    string // in its message
		lives   bool
	}{
		{"no JSON", FramingHeader, framed(FramingHeader, "nonsense"), -32700, "not valid JSON", true},
		{"no JSON on a line", FramingLine, "{nonsense\n", -32700, "not valid JSON", true},
		{"byte order mark in a body", FramingHeader, framed(FramingHeader, "\ufeff"+echo), -32700, "not valid JSON", true},
		{"byte order mark before everything", FramingLine, "\ufeff" + `{"jsonrpc":"2.0","method":"x"}` + "\n", 0, "", true},
		{"deep nesting", FramingLine, repeat("[", 100_000) + repeat("]", 100_000) + "\n", -32700, "not valid JSON", true},
		{"lone surrogate", FramingLine, `{"jsonrpc":"2.0","method":"test/echo","params":["\udc00"]}` + "\n", 0, "", true},
		{"invalid UTF-8", FramingLine, "{\"jsonrpc\":\"2.0\",\"method\":\"test/echo\",\"params\":[\"\xff\xfe\"]}\n", 0, "", true},
		{"blank lines", FramingLine, "\n \r\n\t\n" + echo[:0], 0, "", true},

		{"body over the limit", FramingHeader, framed(FramingHeader, repeat(" ", 65<<20)), -32013, "at most 67108864 bytes", true},
		{"line over the limit", FramingLine, "[" + repeat(" ", 65<<20) + "]\n", -32013, "at most 67108864 bytes", true},
		{"batch over the limit", FramingLine, "[" + repeat(echo+",", 299) + echo + "]\n", -32600, "more than 256 members", true},
		{"batch of 300 numbers", FramingHeader, framed(FramingHeader, "["+repeat("1,", 299)+"1]"), -32600, "more than 256 members", true},

		{"200,000 bytes in one header", FramingHeader, "X-Long: " + repeat("a", 200_000) + "\r\n", -32700, "more than 4096 bytes", false},
		{"200,000 bytes in many headers", FramingHeader, repeat("X-Many: a\r\n", 20_000), -32700, "more than 4096 bytes", false},
		{"200,000 bytes and no line", FramingHeader, repeat("a", 200_000), -32700, "more than 4096 bytes", false},
		{"no length", FramingHeader, "Content-Type: x\r\n\r\n", -32700, "without Content-Length", false},
		{"empty body", FramingHeader, "Content-Length: 0\r\n\r\n", -32700, "not valid JSON", true},
		{"negative length", FramingHeader, "Content-Length: -5\r\n\r\n", -32700, `"-5"`, false},
		{"signed length", FramingHeader, "Content-Length: +5\r\n\r\n", -32700, `"+5"`, false},
		{"length that is no number", FramingHeader, "Content-Length: many\r\n\r\n", -32700, `"many"`, false},
		{"length that overflows", FramingHeader, "Content-Length: 99999999999999999999\r\n\r\n", -32700, `"99999999999999999999"`, false},
		{"two lengths", FramingHeader, "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", -32700, "given twice", false},
		{"no colon", FramingHeader, "Content-Length 5\r\n\r\n", -32700, "expected a header line", false},
		{"a line among headers", FramingHeader, framed(FramingHeader, `{"jsonrpc":"2.0","method":"x"}`) + echo + "\n", -32700, "expected a header line", false},
		{"the same length twice", FramingHeader, "Content-Length: 4\r\nContent-Length: 4\r\n\r\nnull", -32600, "got null", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := connect(t, test.framing, Options{})
			go func() {
				io.WriteString(p.in, test.send)
				io.WriteString(p.in, framed(test.framing, echo))
			}()
			if test.code != 0 {
				r := p.reply()
				if r.ID != nil || r.Error == nil || r.Error.Code != test.code || !strings.Contains(r.Error.Message, test.says) {
					t.Fatalf("got %+v %+v, want error %d with %q", r, r.Error, test.code, test.says)
				}
			}
			if test.lives {
				p.want(`{"jsonrpc":"2.0","id":1,"result":["\ud800"]}`)
				p.in.Close()
				p.wantEnd(nil)
			} else {
				p.wantEnd(errFraming)
			}
		})
	}
}

// Input that ends inside a message is answered like any other framing that is lost.
func TestTruncatedInput(t *testing.T) {
	for _, sent := range []string{"Content-Len", "Content-Length: 5\r\n", "Content-Length: 5\r\n\r\n", "Content-Length: 5\r\n\r\n{"} {
		p := connect(t, FramingHeader, Options{})
		io.WriteString(p.in, sent)
		p.in.Close()
		if r := p.reply(); r.Error.Code != -32700 || !strings.Contains(r.Error.Message, "the input ended") {
			t.Errorf("after %q: %+v", sent, r)
		}
		p.wantEnd(errFraming)
	}
	// The last line needs no line break.
	p := connect(t, FramingLine, Options{})
	io.WriteString(p.in, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`)
	p.in.Close()
	p.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	p.wantEnd(nil)
}

// A reader may give its last bytes together with the end, as io.Reader allows. Nothing of them is lost.
func TestLastBytesWithTheEnd(t *testing.T) {
	body := `"` + strings.Repeat("a", 10*firstPiece) + `"`
	for _, framing := range []Framing{FramingLine, FramingHeader} {
		in := newFrameReader(&endingReader{framed(framing, body)}, framing, 1<<20)
		if got, err := in.next(); err != nil || string(got) != body {
			t.Errorf("%s: %d of %d bytes, %v", framing, len(got), len(body), err)
		}
		if _, err := in.next(); err != io.EOF {
			t.Errorf("%s: then %v, want EOF", framing, err)
		}
	}
}

type endingReader struct{ text string }

func (r *endingReader) Read(p []byte) (n int, err error) {
	n = copy(p, r.text)
	if r.text = r.text[n:]; r.text == "" {
		err = io.EOF
	}
	return n, err
}

// The limit is the caller's, and a body of just that size is accepted.
func TestBodyLimit(t *testing.T) {
	for _, framing := range []Framing{FramingLine, FramingHeader} {
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

// Each framing is told by the first byte, unless it was chosen.
func TestDetection(t *testing.T) {
	tests := []struct {
		chosen Framing
		send   string
		want   Framing
	}{
		{FramingAuto, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}` + "\n", FramingLine},
		{"", "\r\n \t" + `[{"jsonrpc":"2.0","id":1,"method":"test/echo"}]` + "\n", FramingLine},
		{FramingAuto, framed(FramingHeader, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`), FramingHeader},
		{FramingAuto, "\ufeff\n" + framed(FramingHeader, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`), FramingHeader},
		{FramingHeader, framed(FramingHeader, `{"jsonrpc":"2.0","id":1,"method":"test/echo"}`), FramingHeader},
		{FramingLine, ` {"jsonrpc":"2.0","id":1,"method":"test/echo"}` + "\r\n", FramingLine},
	}
	for _, test := range tests {
		p := connect(t, test.want, Options{Framing: test.chosen})
		io.WriteString(p.in, test.send)
		if got, err := p.receive(); err != nil || !strings.Contains(got, `"id":1,"result":{}`) {
			t.Errorf("%q with framing %q: got %q, %v", test.send, test.chosen, got, err)
		}
	}
}

// In line framing a reply is one line, whatever blanks stood between the tokens of what it passes on.
func TestReplyIsOneLine(t *testing.T) {
	p := connect(t, FramingLine, Options{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"test/pretty"}`)
	p.want("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{   \"a\": 1 }}")
}
