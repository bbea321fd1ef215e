package transport

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// A reader may give its last bytes together with the end, as io.Reader allows. Nothing of them is lost.
func TestLastBytesWithTheEnd(t *testing.T) {
	body := `"` + strings.Repeat("a", 10*firstPiece) + `"`
	for _, framing := range []Framing{Line, Header} {
		in := NewReader(&endingReader{map[Framing]string{Line: body + "\n", Header: fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)}[framing]}, framing, 1<<20)
		if got, err := in.Next(); err != nil || string(got) != body {
			t.Errorf("%s: %d of %d bytes, %v", framing, len(got), len(body), err)
		}
		if _, err := in.Next(); err != io.EOF {
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
