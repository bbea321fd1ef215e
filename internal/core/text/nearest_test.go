package text

import "testing"

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"levels", "levels", 0}, {"levles", "levels", 1}, {"level", "levels", 1},
		{"levells", "levels", 1}, {"lavels", "levels", 1}, {"kitten", "sitting", 3},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%s, %s) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("distance(%s, %s) = %d, want %d", test.b, test.a, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	hosts := []string{"claude-code", "opencode", "codex", "gemini-cli"}
	for _, test := range []struct{ name, near, longer string }{
		{"", "", ""}, {"emacs", "", ""}, {"codx", "codex", "codex"}, {"Open-Code", "opencode", "opencode"},
		{"claude", "", "claude-code"}, {"ge", "", ""}, {"gemini", "", "gemini-cli"},
	} {
		if got := Nearest(test.name, hosts); got != test.near {
			t.Errorf("Nearest(%q) = %q, want %q", test.name, got, test.near)
		}
		if got := NearestOrLonger(test.name, hosts); got != test.longer {
			t.Errorf("NearestOrLonger(%q) = %q, want %q", test.name, got, test.longer)
		}
	}
}

func TestParseTokens(t *testing.T) {
	for in, want := range map[string]int{"200000": 200_000, "200k": 200_000, "200K": 200_000, "1.05M": 1_050_000, "200,000": 200_000, "1_000_000": 1_000_000, " 9.4k ": 9_400, "-1": -1, "0": 0} {
		if got, ok := ParseTokens(in); !ok || got != want {
			t.Errorf("ParseTokens(%q) = %d, %v; want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "k", "1.5", "2,00", "1e5", "200kk", "0x10", "200 k", "99999999999999999999"} {
		if got, ok := ParseTokens(in); ok {
			t.Errorf("ParseTokens(%q) = %d, want none", in, got)
		}
	}
}
