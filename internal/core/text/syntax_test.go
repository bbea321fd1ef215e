package text

import "testing"

func TestSyntaxProblem(t *testing.T) {
	for said, want := range map[string]string{
		"parsing value: unexpected EOF":              "the file ends too early; expected a value",
		"parsing array after value: unexpected EOF":  "the list is not closed; expected , or ]",
		"parsing object after value: unexpected EOF": "the object is not closed; expected , or }",
		"parsing object after name: unexpected EOF":  "the file ends too early; expected :",
		"parsing string: unexpected EOF":             "the file ends too early; expected the end of a string",
		"parsing comment: unexpected EOF":            "the comment is not closed; expected */",
		"invalid literal: handoff":                   "not valid JSON: handoff; names and texts need double quotes",
		"invalid literal: 08":                        "not valid JSON: 08",
		"invalid character ',' at start of value":    "invalid character ',' at start of value",
	} {
		if got := SyntaxProblem(said); got != want {
			t.Errorf("%s: got %q, want %q", said, got, want)
		}
	}
}
