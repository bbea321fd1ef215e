package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// blank makes the blanks that JSON allows between tokens.
var blank = rapid.StringMatching(`[ \t\r\n]{0,2}`)

// anyJSON makes the text of any JSON value, its strings rich in quotes, backslashes and brackets.
func anyJSON(depth int) *rapid.Generator[string] {
	text := rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{`\\`, `\"`, `\n`, `\u005c`, `é`, `a`, `[`, `]`, `{`, `}`, `,`, `:`}), 0, 6).Draw(t, "pieces")
		return `"` + strings.Join(pieces, "") + `"`
	})
	scalar := rapid.OneOf(text, rapid.SampledFrom([]string{"null", "true", "false", "0", "-1.5e+10", "12"}))
	if depth == 0 {
		return scalar
	}
	list := func(open, shut string, item func(*rapid.T) string) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			var all []string
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				all = append(all, blank.Draw(t, "")+item(t)+blank.Draw(t, ""))
			}
			return open + strings.Join(all, ",") + blank.Draw(t, "") + shut
		})
	}
	element := func(t *rapid.T) string { return anyJSON(depth-1).Draw(t, "element") }
	member := func(t *rapid.T) string {
		return text.Draw(t, "name") + blank.Draw(t, "") + ":" + blank.Draw(t, "") + anyJSON(depth-1).Draw(t, "value")
	}
	return rapid.OneOf(scalar, list("[", "]", element), list("{", "}", member))
}

// What elements and members yield is what encoding/json finds.
func TestPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := blank.Draw(t, "") + anyJSON(3).Draw(t, "text")
		switch strings.TrimSpace(text)[0] {
		case '[':
			var want, got []json.RawMessage
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for element := range Elements([]byte(text)) {
				got = append(got, element)
			}
			if len(want) == 0 {
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("elements of %s (-want +got):\n%s", text, diff)
			}
		case '{':
			want, got := map[string]json.RawMessage{}, map[string]json.RawMessage{}
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for name, value := range Members([]byte(text)) {
				var plain string
				if err := json.Unmarshal(name, &plain); err != nil {
					t.Fatalf("name %s of %s: %v", name, text, err)
				}
				got[plain] = value
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("members of %s (-want +got):\n%s", text, diff)
			}
		}
	})
}
