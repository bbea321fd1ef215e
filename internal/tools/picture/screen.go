package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// palette is the sixteen colours of a dark terminal.
var palette = [16]string{
	"#0d1117", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9",
	"#6e7681", "#ffa198", "#56d364", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#ffffff",
}

const (
	defaultText   = "#c9d1d9"
	defaultGround = "#0d1117"
)

var words = regexp.MustCompile(`[^ ]+(?: [^ ]+)*`)

// look is how a cell of a screen is drawn; "" is the terminal's own colour.
type look struct {
	text, ground       string
	bold, dim, reverse bool
}

// apply takes over what one sequence of styling says, its codes split at semicolons.
func (l *look) apply(codes []string) {
	for i := 0; i < len(codes); i++ {
		code, _ := strconv.Atoi(codes[i]) // an empty one is 0
		switch {
		case code == 0:
			*l = look{}
		case code == 1:
			l.bold = true
		case code == 2:
			l.dim = true
		case code == 7, code == 27:
			l.reverse = code == 7
		case code == 22:
			l.bold, l.dim = false, false
		case code == 39:
			l.text = ""
		case code == 49:
			l.ground = ""
		case code >= 30 && code <= 37:
			l.text = palette[code-30]
		case code >= 90 && code <= 97:
			l.text = palette[code-90+8]
		case code >= 40 && code <= 47:
			l.ground = palette[code-40]
		case code >= 100 && code <= 107:
			l.ground = palette[code-100+8]
		case (code == 38 || code == 48) && i+4 < len(codes) && codes[i+1] == "2":
			colour := "#"
			for _, part := range codes[i+2 : i+5] {
				n, _ := strconv.Atoi(part)
				colour += fmt.Sprintf("%02x", n)
			}
			l.set(code, colour)
			i += 4
		case (code == 38 || code == 48) && i+2 < len(codes) && codes[i+1] == "5":
			n, _ := strconv.Atoi(codes[i+2])
			l.set(code, indexed(n))
			i += 2
		}
	}
}

// set takes a colour for what a code is about: 38 text, 48 ground.
func (l *look) set(code int, colour string) {
	if code == 38 {
		l.text = colour
	} else {
		l.ground = colour
	}
}

// indexed is a colour of xterm's 256: the sixteen, a cube of six steps a side, and 24 greys.
func indexed(n int) string {
	switch {
	case n < 16:
		return palette[max(n, 0)]
	case n >= 232:
		grey := 8 + 10*(min(n, 255)-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
	step := func(n int) int {
		if n %= 6; n > 0 {
			return 55 + 40*n
		}
		return 0
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", step(n/36), step(n/6), step(n))
}

// screen draws what tmux capture-pane -e -N printed: a whole screen, cell by cell, whose styling goes on from line to line.
func screen(out io.Writer, lines []string) error {
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(styling.ReplaceAllString(line, "")))
	}
	var grounds, texts strings.Builder
	var now look
	ground, first := "", true
	for row, line := range lines {
		column, from := 0, 0
		draw := func(text string) {
			if text == "" {
				return
			}
			cells := utf8.RuneCountInString(text)
			x, y := margin+float64(column)*cellWidth, margin+row*lineHeight
			colour, behind := now.text, now.ground
			if now.reverse {
				colour, behind = orElse(behind, defaultGround), orElse(colour, defaultText)
			}
			if first { // the corner of a screen shows its ground
				ground, first = now.ground, false
			}
			if behind != "" && behind != ground {
				fmt.Fprintf(&grounds, `<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"/>`+"\n", x, y, float64(cells)*cellWidth, lineHeight, behind)
			}
			weight := ""
			if now.bold {
				weight = ` font-weight="bold"`
			}
			if now.dim {
				weight += ` fill-opacity="0.6"`
			}
			for _, m := range words.FindAllStringIndex(text, -1) { // spaces at the ends of a text get lost in some viewers
				word, at := text[m[0]:m[1]], x+float64(utf8.RuneCountInString(text[:m[0]]))*cellWidth
				fmt.Fprintf(&texts, `<text x="%.2f" y="%d" textLength="%.2f" fill="%s"%s>`, at, y+fontSize,
					float64(utf8.RuneCountInString(word))*cellWidth, orElse(colour, defaultText), weight)
				_ = xml.EscapeText(&texts, []byte(word)) // a Builder takes everything
				texts.WriteString("</text>\n")
			}
			column += cells
		}
		for _, m := range styling.FindAllStringSubmatchIndex(line, -1) {
			draw(line[from:m[0]])
			from = m[1]
			now.apply(strings.Split(line[m[2]:m[3]], ";"))
		}
		draw(line[from:])
	}
	_, err := fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" role="img" aria-label="terminal output">
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
%s<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d">
%s</g></svg>
`, float64(width)*cellWidth+2*margin, len(lines)*lineHeight+2*margin, orElse(ground, defaultGround), grounds.String(), fontSize, texts.String())
	return err
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
