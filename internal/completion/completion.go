// Package completion makes a program's completion scripts for shells. The scripts ask 'PROGRAM completion words' for what may stand at
// the cursor, so that they need not be printed again for a new command, and can offer what changes.
package completion

import (
	_ "embed"
	"slices"
	"strings"
)

var (
	//go:embed script.bash
	bash string
	//go:embed script.zsh
	zsh string
	//go:embed script.fish
	fish string
)

// Shells are the names that Script takes.
var Shells = []string{"bash", "zsh", "fish"}

// Script returns the script of a shell for a program; "" is another shell.
func Script(shell, program string) string {
	i := slices.Index(Shells, shell)
	if i < 0 {
		return ""
	}
	return strings.NewReplacer("@program@", program, "@function@", strings.ReplaceAll(program, "-", "_")).Replace([]string{bash, zsh, fish}[i])
}

// Offer is what may stand at the cursor.
type Offer struct {
	Paths string // "files" or "dirs" where names of those may stand there too
	lines []string
}

// Add offers a word with a description.
func (o *Offer) Add(word, description string) {
	o.lines = append(o.lines, word+"\t"+strings.NewReplacer("\t", " ", "\n", " ").Replace(description))
}

// AddAll offers words without descriptions.
func (o *Offer) AddAll(words []string) {
	for _, word := range words {
		o.Add(word, "")
	}
}

// Print returns the offer as the scripts read it: "files", "dirs" or "words", then a line for each word that goes on from cur, with a
// tab before its description. before stands in front of each word.
func (o *Offer) Print(before, cur string) string {
	var b strings.Builder
	first := "words"
	if o.Paths != "" {
		first = o.Paths
	}
	b.WriteString(first + "\n")
	for _, line := range o.lines {
		if strings.HasPrefix(line, cur) {
			b.WriteString(before + line + "\n")
		}
	}
	return b.String()
}
