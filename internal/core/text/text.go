package text

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes text from outside safe to show on one line of a terminal or to a model. These characters become spaces: control
// characters, line and paragraph separators, private-use characters, and everything that Unicode calls default-ignorable (zero-width
// and bidirectional characters, tags, variation selectors, fillers), because invisible text can instruct a model. Bytes that are not
// UTF-8 become U+FFFD. Text longer than limit characters is cut and ends in "…"; limit 0 is no limit.
func Sanitize(s string, limit int) string {
	s = strings.ReplaceAll(SanitizeLines(s), "\n", " ")
	if limit > 0 && utf8.RuneCountInString(s) > limit {
		r := []rune(s)
		s = string(r[:limit-1]) + "…"
	}
	return s
}

// SanitizeLines is Sanitize for text of several lines and any length: line feeds stay.
func SanitizeLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !Visible(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Visible reports whether a character can be seen on a screen and does nothing else there. Go has no table of
// Default_Ignorable_Code_Point; Unicode derives it from Cf and the last two tables.
func Visible(r rune) bool {
	if r < 0x7f {
		return r >= ' '
	}
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Percent returns part as a share of whole in percent, clamped to 0–100 and rounded half up: the form in which people and
// models are told.
func Percent(part, whole int) int {
	if whole <= 0 || part <= 0 {
		return 0
	}
	if part >= whole {
		return 100
	}
	return (part*200 + whole) / (2 * whole)
}

// Thousands writes n with a comma between thousands.
func Thousands(n int) string {
	s := []byte{}
	if n < 0 {
		return "-" + Thousands(-n)
	}
	for i := 0; ; i++ {
		if i > 0 && i%3 == 0 {
			s = append(s, ',')
		}
		s = append(s, byte('0'+n%10))
		if n /= 10; n == 0 {
			break
		}
	}
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
	return string(s)
}

// Ago writes how long ago something was in one unit, such as "5 min ago"; under a minute is "just now".
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// IsDigits reports whether s has decimal digits only, at least one.
func IsDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// MaxLabel is the most characters of a title or a name that clients are given.
const MaxLabel = 300
