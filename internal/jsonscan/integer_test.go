package jsonscan

import "testing"

func TestInteger(t *testing.T) {
	for number, want := range map[string]int64{"0": 0, "-7": -7, "1.0": 1, "2e3": 2000, "9223372036854775807": 9223372036854775807, "-1.50e1": -15} {
		if got, ok := Integer([]byte(number)); !ok || got != want {
			t.Errorf("%s: %d, %t; want %d", number, got, ok, want)
		}
	}
	for _, number := range []string{"", "1.5", "1e400", "9223372036854775808", `"1"`, "null", "true", "Infinity", "NaN", "1e300"} {
		if got, ok := Integer([]byte(number)); ok {
			t.Errorf("%s: %d; want none", number, got)
		}
	}
}
