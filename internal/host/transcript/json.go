package transcript

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/jsonscan"
)

// Members calls visit with the members of a JSON object in order, until visit returns false. It passes the key between its quotes, with
// escapes, and the raw value. It is jsonscan.WalkMembers, which does not check the values that it skips.
func Members(data []byte, visit func(key, value []byte) bool) bool {
	return jsonscan.WalkMembers(data, visit)
}

// Elements is Members for the elements of a JSON array.
func Elements(data []byte, visit func(value []byte) bool) bool {
	return jsonscan.WalkElements(data, visit)
}

// Field is one wanted member of an object.
type Field struct {
	Name  string
	Value *[]byte // where its raw value goes
}

// Pick finds the wanted members of a JSON object; of two with the same name, the last one counts. Missing members stay nil. It returns
// false if data is no object.
func Pick(data []byte, fields ...Field) bool {
	return Members(data, func(key, value []byte) bool {
		for _, f := range fields {
			if string(key) == f.Name {
				*f.Value = value
				break
			}
		}
		return true
	})
}

// Payload is Pick for the payload of a host. A payload over core.MaxPayload, and one that is no object, is an error with coded.Invalid.
func Payload(data []byte, fields ...Field) error {
	if len(data) > core.MaxPayload {
		return coded.Field("payload", "%d bytes, want at most %d", len(data), core.MaxPayload)
	}
	if !Pick(data, fields...) {
		return coded.Field("payload", "not a JSON object")
	}
	return nil
}

// String decodes a JSON string; anything else is "". Lone surrogates and invalid UTF-8, which hosts do write, become replacement
// characters.
func String(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if inner := value[1 : len(value)-1]; plain(inner) {
		return string(inner)
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// plain reports whether the inside of a JSON string needs no decoding.
func plain(inner []byte) bool {
	for _, c := range inner {
		if c < ' ' || c == '\\' || c == '"' || c >= 0x80 {
			return false
		}
	}
	return true
}

// Int decodes a JSON number as a count. It drops fractions. A negative or huge value, or no number, is 0.
func Int(value []byte) int {
	n, _ := Count(value)
	return n
}

// Count is Int for figures that are added up: ok is false if the value exists, is not null, and is no count.
func Count(value []byte) (n int, ok bool) {
	if len(value) == 0 || string(value) == "null" {
		return 0, true
	}
	if jsonscan.IsCount(value) {
		for _, digit := range value {
			n = 10*n + int(digit-'0')
		}
		return n, true
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || !json.Valid(value) || f < 0 || f > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// firstYear and lastYear bound the accepted times. A time outside cannot be written in every time zone, and no host's clock shows it.
const firstYear, lastYear = 1970, 9998

// Time decodes a JSON string with an RFC 3339 time. It returns the zero time if there is none, or none within the bounds.
func Time(value []byte) time.Time {
	at, err := time.Parse(time.RFC3339, String(value))
	if at = at.UTC(); err != nil || at.Year() < firstYear || at.Year() > lastYear {
		return time.Time{}
	}
	return at
}

// Millis decodes a JSON number of milliseconds since 1970. It returns the zero time if there is none, or none within the bounds.
func Millis(value []byte) time.Time {
	ms, err := strconv.ParseInt(string(value), 10, 64)
	if at := time.UnixMilli(ms).UTC(); err == nil && ms > 0 && at.Year() <= lastYear && at.Year() >= firstYear {
		return at
	}
	return time.Time{}
}

// IsTrue reports whether value is the JSON literal true.
func IsTrue(value []byte) bool { return string(value) == "true" }

// IsObject reports whether value begins a JSON object.
func IsObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
