package transport

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/jsonscan"
)

// keptMark begins the ID that stands for one that the library would change: a string with a lone surrogate, a whole number with a
// fraction or an exponent, such as 1.0, or null. The JSON of the client's own ID follows in hexadecimal digits. The mark is random, so that
// no text of a client contains it.
var keptMark = "id-" + strconv.FormatUint(rand.Uint64(), 36) + "-"

// ReadID reads an ID. The zero ID means no ID, or one that is neither a string nor a whole number of 64 bits.
func ReadID(raw jsontext.Value) jsonrpc2.ID {
	switch raw.Kind() {
	case jsontext.KindString:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return jsonrpc2.ID{}
		}
		if strings.ContainsRune(text, utf8.RuneError) {
			return keptID(raw)
		}
		return jsonrpc2.NewStringID(text)
	case jsontext.KindNumber:
		number, whole := jsonscan.Integer(raw)
		switch {
		case whole && strconv.FormatInt(number, 10) == string(raw):
			return jsonrpc2.NewNumberID(number)
		case whole:
			return keptID(raw)
		}
	}
	return jsonrpc2.ID{}
}

func keptID(raw []byte) jsonrpc2.ID {
	return jsonrpc2.NewStringID(keptMark + hex.EncodeToString(raw))
}

// isKept reports whether id stands for another one.
func isKept(id jsonrpc2.ID) bool {
	text, ok := id.StringValue()
	return ok && strings.HasPrefix(text, keptMark)
}

// restoreIDs puts the client's own IDs back into the replies from start on.
func restoreIDs(replies []byte, start int) []byte {
	mark := []byte(`"` + keptMark)
	for {
		at := bytes.Index(replies[start:], mark)
		if at < 0 {
			return replies
		}
		at += start
		digits := replies[at+len(mark):]
		digits = digits[:bytes.IndexByte(digits, '"')]
		raw, err := hex.DecodeString(string(digits))
		if err != nil {
			return replies // only this package writes the mark
		}
		end := at + len(mark) + len(digits) + 1
		replies = append(replies[:at], append(raw, replies[end:]...)...)
		start = at + len(raw)
	}
}
