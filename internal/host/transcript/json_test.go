package transcript

import (
	"testing"
	"time"
)

func TestPick(t *testing.T) {
	data := []byte(" {\"a\": \"x\\\\\", \"deep\": {\"a\": [\"}\", {\"a\": 1}]},\"n\":-1.5e3 ,\"a\":\"\\\"y\\u2028\", \"t\":true}\n")
	var a, n, missing []byte
	if !Pick(data, Field{"a", &a}, Field{"n", &n}, Field{"missing", &missing}) {
		t.Fatal("not an object")
	}
	if String(a) != "\"y\u2028" || string(n) != "-1.5e3" || missing != nil {
		t.Errorf("got %s, %s, %s", a, n, missing)
	}
}

func TestWhatIsNoObject(t *testing.T) {
	for _, data := range []string{
		"", " ", "null", "1", `"{}"`, "[]", "{", `{"a"`, `{"a"}`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a":[}`,
		`{"a":"x}`, `{"a":1}x`, `{"a":1}{}`, `{a:1}`, `{"a" 1}`, `{"a":nul}`, `{"a":1 "b":2}`, "{\"a\":1}\x00", `{,}`,
	} {
		if Pick([]byte(data)) {
			t.Errorf("%q was taken for an object", data)
		}
	}
}

func TestStrings(t *testing.T) {
	for value, want := range map[string]string{
		`"plain"`: "plain", `""`: "", `"\ud83d"`: "\ufffd", `"\ud83d\ude00"`: "😀", "\"\xff\"": "\ufffd", `"é"`: "é",
		`"a\/b\n"`: "a/b\n", `null`: "", `1`: "", `"`: "", ``: "", `"\x"`: "", "\"a\nb\"": "",
	} {
		if got := String([]byte(value)); got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	for value, want := range map[string]int{
		"12": 12, "0": 0, "1e3": 1000, "12.9": 12, "-1": 0, "1e400": 0, "99999999999": 0, "null": 0, `"12"`: 0, "": 0,
		"NaN": 0, "0x10": 0, "1_0": 0,
	} {
		if got := Int([]byte(value)); got != want {
			t.Errorf("%s: got %d, want %d", value, got, want)
		}
	}
}

// A time that cannot be written down in every zone made everything fail that showed it: a session's history, and the very
// hook of OpenCode that told it.
func TestTimesThatCannotBe(t *testing.T) {
	for value, want := range map[string]string{
		`"2026-11-21T14:07:03.774Z"`: "2026-11-21T14:07:03.774Z", `"2026-11-21T16:07:03+02:00"`: "2026-11-21T14:07:03Z", `"1970-01-01T00:00:00Z"`: "1970-01-01T00:00:00Z",
		`"9999-12-31T23:59:59-12:00"`: "", `"0000-01-01T00:00:00+12:00"`: "", `"0001-01-01T00:00:00Z"`: "", `"1969-12-31T23:59:59Z"`: "", `""`: "", `5`: "", ``: "", `null`: "",
	} {
		if got := Time([]byte(value)); got.IsZero() != (want == "") || !got.IsZero() && got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v, want %s", value, got, want)
		}
	}
	for value, want := range map[string]int64{
		"1795269600000": 1795269600000, "1": 1, "0": 0, "-1": 0, "253370764800000": 0, "9007199254740991": 0, "92233720368547758089": 0, "1.5": 0, "null": 0, `"1"`: 0, "": 0,
	} {
		if got := Millis([]byte(value)); got.IsZero() != (want == 0) || want > 0 && got.UnixMilli() != want {
			t.Errorf("%s: %v, want %d", value, got, want)
		}
	}
}
