package survival

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPromptLines is how many lines a typed prompt has at most; more are a pasted block.
const maxPromptLines = 8

// pasted begin or mark what was not typed.
var pasted = []string{"```", "[Pasted text", "[Image", "[Request interrupted", "Caveat: The messages below"}

// quotable reports whether a prompt can be given back: short, typed, and of more than a word or two. Commands of the host begin
// with a slash. Whether it holds a secret is looked at only where it is chosen: that takes longest.
func quotable(prompt string) bool {
	n := utf8.RuneCountInString(prompt)
	if n < 12 || n > maxPrompt || prompt[0] == '/' && !strings.ContainsAny(strings.Fields(prompt)[0][1:], "/.") || prompt[0] == '<' || prompt[0] == '!' {
		return false
	}
	if strings.Count(prompt, "\n") >= maxPromptLines || len(strings.Fields(prompt)) < 3 && n < 40 {
		return false
	}
	for _, mark := range pasted {
		if strings.Contains(prompt, mark) {
			return false
		}
	}
	return true
}

// constraints are the words of a standing instruction, in some languages, each between spaces and without apostrophes. A regular expression
// that finds them takes ten times as long, and a hook waits for it.
var constraints = func() (terms []string) {
	for _, term := range strings.Split("dont,do not,never,always,must,mustnt,only,without,avoid,instead,prefer,make sure,ensure,keep,no need,should,shouldnt,stop,remember,"+
		"from now on,every time,before you,not to,nicht,nie,niemals,immer,ohne,kein,keine,statt,jamais,toujours,ne pas,sans,nunca,siempre,sin,non,mai,sempre", ",") {
		terms = append(terms, " "+term+" ")
	}
	return append(terms, "不要", "必须", "别", "总是", "しないで", "必ず")
}()

// IsConstraint reports whether a prompt is worded as an instruction that may still hold.
func IsConstraint(prompt string) bool {
	words := strings.FieldsFunc(apostrophes.Replace(strings.ToLower(prompt)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	plain := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(constraints, func(term string) bool { return strings.Contains(plain, term) })
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

// Plain makes two spellings of one text equal: white space and case do not count.
func Plain(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// Holds reports whether a summary has a text verbatim, as far as it would be quoted.
func Holds(plainSummary, prompt string) bool {
	p := Plain(prompt)
	if r := []rune(p); len(r) > maxQuote {
		p = string(r[:maxQuote-1])
	}
	return strings.Contains(plainSummary, p)
}
