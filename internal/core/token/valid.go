package token

import "unicode/utf8"

// wellFormed is text itself, or a copy in which each byte that is not part of a
// character has become U+FFFD.
func wellFormed(text []byte) []byte {
	if valid(text, vectors()) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/4)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		out = utf8.AppendRune(out, r)
		text = text[n:]
	}
	return out
}

// valid is utf8.Valid, with AVX2 if fast.
func valid(text []byte, fast bool) bool {
	if n := len(text) &^ 31; fast && n > 0 {
		if !validAVX2(&text[0], n) {
			return false
		}
		// The last character of these bytes may go on after them.
		from := n - 1
		for from > n-utf8.UTFMax && !utf8.RuneStart(text[from]) {
			from--
		}
		text = text[from:]
	}
	return utf8.Valid(text)
}
