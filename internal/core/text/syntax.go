package text

import "strings"

// brokenOff says what is missing where a JSON text ends too early, by what the parser read last.
var brokenOff = []struct{ reading, message string }{
	{"array after value", "the list is not closed; expected , or ]"},
	{"object after value", "the object is not closed; expected , or }"},
	{"object after name", "the file ends too early; expected :"},
	{"string", "the file ends too early; expected the end of a string"},
	{"comment", "the comment is not closed; expected */"},
	{"", "the file ends too early; expected a value"},
}

// SyntaxProblem puts what the parser hujson says of a text into plain words. What it quotes of the text must be printable.
func SyntaxProblem(said string) string {
	if reading, ok := strings.CutSuffix(said, ": unexpected EOF"); ok {
		for _, end := range brokenOff {
			if strings.TrimPrefix(reading, "parsing ") == end.reading || end.reading == "" {
				return end.message
			}
		}
	}
	if literal, ok := strings.CutPrefix(said, "invalid literal: "); ok {
		if literal != "" && (literal[0]|0x20) >= 'a' && (literal[0]|0x20) <= 'z' {
			return "not valid JSON: " + literal + "; names and texts need double quotes"
		}
		return "not valid JSON: " + literal
	}
	return said
}
