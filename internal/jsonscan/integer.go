package jsonscan

import (
	"math"
	"strconv"
)

// Integer reads a JSON number that is a whole number, however it is written: 1, 1.0 and 1e0 are the same number to JSON Schema, and
// a client whose only number type is a float writes any of them. It reports false for any other value, and for a number that 64 bits
// do not hold exactly.
func Integer(number []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return n, true
	}
	if len(number) == 0 || number[0] != '-' && (number[0] < '0' || number[0] > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(number), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}
