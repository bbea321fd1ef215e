package jsonscan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestParseDepth(t *testing.T) {
	for depth, ok := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		_, err := Parse([]byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), nil)
		if (err == nil) != ok {
			t.Errorf("%d levels: %v", depth, err)
		}
	}
}

// FuzzParse holds the scanner to encoding/json: the same documents are well formed, and members, texts and compact forms
// say the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `null`, `tru`, `-`, `-0`, `01`, `1.`, `1.5e`, `1.5E+10`, `"`, `"\`, `"\u12`, `"\x"`, "\"\x01\"", `"a\u00e9\ud83d\ude00\ud83d"`, `"\ud83d\ud83dA\ude00\ud83d\u0041"`,
		`{"a":1,"a":[2,{}],"\u0062":"\/\"\\\b\f\n\r\t"}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{1:2}`, `[1 2]`, `[[[]]]`, `[1,]`, `1 2`,
		"[\"\xff long enough to be read eight bytes at a time\", \"\u2028\"]", ` { "k" : [ true , false , null ] } `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, err := Parse(doc, nil)
		if valid := json.Valid(doc); valid != (err == nil) {
			t.Fatalf("json.Valid says %v, parse says %v", valid, err)
		}
		if err != nil {
			return
		}
		same(t, v)
		unchecked(t, v)
		compacted := v.Compact(nil)
		var want, got any
		if json.Unmarshal(doc, &want) != nil {
			return // a number out of range
		}
		if err := json.Unmarshal(compacted, &got); err != nil {
			t.Fatalf("the compact form %q is not JSON: %v", compacted, err)
		}
		w, _ := json.Marshal(want)
		g, _ := json.Marshal(got)
		if !bytes.Equal(w, g) {
			t.Fatalf("compact form: got %s, want %s", g, w)
		}
	})
}

// unchecked holds the unchecked mode to the checked one, which found v well formed.
func unchecked(t *testing.T, v Value) {
	var want, got []string
	for name, val := range Members(v.Raw()) {
		want = append(want, string(name[1:len(name)-1]), string(val))
	}
	for val := range Elements(v.Raw()) {
		want = append(want, string(val))
	}
	object := WalkMembers(v.Raw(), func(name, val []byte) bool {
		got = append(got, string(name), string(val))
		return true
	})
	array := WalkElements(v.Raw(), func(val []byte) bool {
		got = append(got, string(val))
		return true
	})
	if object != v.IsObject() || array != v.IsArray() || !slices.Equal(got, want) {
		t.Fatalf("unchecked: object %v, array %v, %q; checked: %q", object, array, got, want)
	}
}

func same(t *testing.T, v Value) {
	switch {
	case v.IsObject():
		var want map[string]json.RawMessage
		if err := json.Unmarshal(v.Raw(), &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]Value{}
		for key, val := range v.members() {
			got[strings.ToValidUTF8(string(key), "\ufffd")] = val
			same(t, val)
		}
		if len(want) < len(got) {
			t.Fatalf("%d members, want %d", len(got), len(want))
		}
	case v.IsArray():
		var want []json.RawMessage
		if err := json.Unmarshal(v.Raw(), &want); err != nil {
			t.Fatal(err)
		}
		n := 0
		for i, val := range v.Elements() {
			if !bytes.Equal(want[i], val.Raw()) {
				t.Fatalf("element %d: got %s, want %s", i, val.Raw(), want[i])
			}
			same(t, val)
			n++
		}
		if n != len(want) {
			t.Fatalf("%d elements, want %d", n, len(want))
		}
	case v.IsString():
		var want string
		if err := json.Unmarshal(v.Raw(), &want); err != nil {
			t.Fatal(err)
		}
		if got := v.Text(); string([]rune(got)) != want {
			t.Fatalf("text of %s: got %q, want %q", v.Raw(), got, want)
		}
	}
}
