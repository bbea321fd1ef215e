package main

import (
	"regexp"
	"strings"
)

// styling is how a terminal is told of colours and weights: Select Graphic Rendition of ECMA-48.
var styling = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// attributes are those of SVG for what ctxls uses of it.
var attributes = map[string]string{
	"1": ` font-weight="bold"`, "2": ` fill-opacity="0.6"`,
	"31": ` fill="#ff7b72"`, "32": ` fill="#7ee787"`, "33": ` fill="#e3b341"`, "36": ` fill="#79c0ff"`,
}

// part is a stretch of text in one style.
type part struct{ style, text string }

// parts splits a line at its styling.
func parts(line string) []part {
	var all []part
	style, from := "", 0
	for _, m := range styling.FindAllStringSubmatchIndex(line, -1) {
		all = append(all, part{style, line[from:m[0]]})
		style, from = "", m[1]
		for code := range strings.SplitSeq(line[m[2]:m[3]], ";") {
			style += attributes[code]
		}
	}
	return append(all, part{style, line[from:]})
}
