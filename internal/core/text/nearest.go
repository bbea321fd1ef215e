package text

import (
	"slices"
	"strings"
)

// maxGuessed is the longest name, in bytes, for which Nearest looks for another.
const maxGuessed = 60

// Nearest returns the candidate that name is most likely a slip of, or "". A slip is at most a third of the name's length
// in edits. Letter case does not count.
func Nearest(name string, candidates []string) string {
	if name == "" || len(name) > maxGuessed {
		return ""
	}
	best, bestDistance := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// minPrefix is the length, in bytes, from which the beginning of a name stands for it.
const minPrefix = 3

// NearestOrLonger returns what Nearest does, or else the first candidate that begins with name, as in "gemini" for "gemini-cli".
func NearestOrLonger(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" || len(name) < minPrefix || len(name) > maxGuessed {
		return near
	}
	i := slices.IndexFunc(candidates, func(c string) bool { return strings.HasPrefix(strings.ToLower(c), strings.ToLower(name)) })
	if i < 0 {
		return ""
	}
	return candidates[i]
}

// distance returns how many bytes must be inserted, deleted, replaced or swapped with their neighbor to turn a into b
// (optimal string alignment, which counts the commonest slip, two swapped letters, as one).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
