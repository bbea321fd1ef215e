// Command picture turns the text of a terminal into an SVG: standard input to standard output. What ctxls said stands out,
// and gauges have the colour of their level. Text that brings colours of its own, as a terminal is sent them, keeps those. With -screen
// it is a whole screen as tmux captured it.
//
//	go run ./internal/tools/picture < internal/ui/testdata/sessions-80-color.txt > docs/images/sessions.svg
//	go run ./internal/tools/replay --no-color --speed 100 | go run ./internal/tools/picture -from "0:39" -to "1:04" > docs/images/replay.svg
//	go run ./internal/tools/picture -screen < editors/neovim/out/window.ansi > editors/neovim/media/window.svg
package main

import (
	"bufio"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// Sizes in pixels of the common monospace fonts at 13 px.
const (
	fontSize   = 13
	cellWidth  = 7.83
	lineHeight = 18
	margin     = 16
)

// unbroken is a space that browsers show however many there are; of others they show one.
const unbroken = "\u00a0"

// colours by the word that ends a gauge's line, of a dark terminal.
var colours = map[string]string{"normal": "#7ee787", "notice": "#e3b341", "warning": "#ffa657", "critical": "#ff7b72"}

func main() {
	from := flag.String("from", "", "begin with the first line that holds this")
	to := flag.String("to", "", "end before the first line after that which holds this")
	whole := flag.Bool("screen", false, "the text is a screen, as tmux capture-pane -p -e -N prints it")
	flag.Parse()
	var lines []string
	started := *from == ""
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		line := in.Text()
		if !started {
			started = strings.Contains(line, *from)
		} else if *to != "" && strings.Contains(line, *to) {
			break
		}
		if started {
			lines = append(lines, line)
		}
	}
	if *whole {
		if err := screen(os.Stdout, lines); err != nil {
			fmt.Fprintln(os.Stderr, "picture:", err)
			os.Exit(1)
		}
		return
	}
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(styling.ReplaceAllString(line, "")))
	}
	fmt.Printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" role="img" aria-label="terminal output">`+"\n",
		float64(width)*cellWidth+2*margin, len(lines)*lineHeight+2*margin)
	fmt.Println(`<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`)
	fmt.Printf(`<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d">`+"\n", fontSize)
	said := false
	for i, line := range lines {
		switch name := strings.TrimSpace(cut(line, 6, 14)); {
		case name != "":
			said = name == "ctxls"
		case strings.TrimSpace(line) == "":
			said = false
		}
		// librsvg drops spaces at the begin of a text, even those that do not break, unless told otherwise.
		fmt.Printf(`<text xml:space="preserve" x="%d" y="%d" fill="%s">`, margin, margin+fontSize+i*lineHeight, colour(line, said))
		for _, part := range parts(line) {
			if part.style != "" {
				fmt.Printf("<tspan%s>", part.style)
			}
			if err := xml.EscapeText(os.Stdout, []byte(strings.ReplaceAll(part.text, " ", unbroken))); err != nil {
				fmt.Fprintln(os.Stderr, "picture:", err)
				os.Exit(1)
			}
			if part.style != "" {
				fmt.Print("</tspan>")
			}
		}
		fmt.Println("</text>")
	}
	fmt.Println("</g></svg>")
}

func colour(line string, said bool) string {
	if said {
		return "#79c0ff"
	}
	if strings.Contains(line, " client ") {
		for level, colour := range colours {
			if strings.HasSuffix(line, level) {
				return colour
			}
		}
	}
	return "#c9d1d9"
}

// cut returns the characters of a line from one place to another, as far as there are any.
func cut(line string, from, to int) string {
	r := []rune(line)
	return string(r[min(from, len(r)):min(to, len(r))])
}
