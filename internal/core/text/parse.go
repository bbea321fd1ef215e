package text

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// tokensForm is how people write a number of tokens: 200000, 200,000, 200_000, 200k or 1.05M.
var tokensForm = sync.OnceValue(func() *regexp.Regexp { // compiled on demand: every hook starts this program
	return regexp.MustCompile(`^-?(\d+|\d{1,3}([,_]\d{3})+)(\.\d+)?[kKmM]?$`)
})

// ParseTokens reads a number of tokens in the forms that screens show and people type. It returns false for anything else, such
// as a number that is not whole.
func ParseTokens(s string) (int, bool) {
	s = strings.TrimSpace(s)
	if !tokensForm().MatchString(s) {
		return 0, false
	}
	unit := 1.0
	switch s[len(s)-1] {
	case 'k', 'K':
		unit = 1e3
	case 'm', 'M':
		unit = 1e6
	}
	digits := strings.NewReplacer(",", "", "_", "").Replace(strings.TrimRight(s, "kKmM"))
	x, err := strconv.ParseFloat(digits, 64)
	n := math.Round(x * unit)
	if err != nil || math.Abs(n-x*unit) > 1e-6 || math.Abs(n) > 1e15 {
		return 0, false
	}
	return int(n), true
}

// OneOf lists names as a choice: "claude-code, opencode or generic".
func OneOf[T ~string](names []T) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}
