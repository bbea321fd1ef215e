package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core"
)

// Sizes in pixels. A cell is what the common monospace fonts have at 12 px.
const (
	filmWidth, filmHeight = 940, 430
	cell, rowHeight       = 7.23, 17
	top                   = 40 // of what is below the title of a window
	terminalWidth         = 508
	editorX, editorWidth  = 528, 412
	plotTop, plotHeight   = 128, 130
	barHeight             = 26
)

// filmStyle has the colours of both themes. A viewer that knows no media queries shows the dark one; who wants no motion sees the
// picture that stands.
const filmStyle = `text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#c9d1d9}
.w{fill:#0d1117;stroke:#30363d}.b{fill:#161b22}.g{fill:#21262d}.l{stroke:#30363d}
.d{fill:#8b949e}.u{fill:#fff;font-weight:bold}.h{fill:#d2a8ff}.c{fill:#79c0ff}.big{font-size:30px}
.normal{fill:#7ee787}.notice{fill:#e3b341}.warning{fill:#ffa657}.critical{fill:#ff7b72}.unknown{fill:#8b949e}.compacting{fill:#d2a8ff}
.i{fill:#30363d}.iwarning{fill:#7a5200}.icritical,.icompacting{fill:#b62324}.it{fill:#fff}
.p{fill:none;stroke:#58a6ff;stroke-width:2}.a{fill:#58a6ff;fill-opacity:.2}.m{stroke:#ff7b72;stroke-dasharray:4 4}
@media (prefers-color-scheme:light){text{fill:#1f2328}.w{fill:#fff;stroke:#d0d7de}.b{fill:#f6f8fa}.g{fill:#eaeef2}.l{stroke:#d0d7de}
.d{fill:#59636e}.u{fill:#000}.h{fill:#8250df}.c{fill:#0969da}.normal{fill:#116329}.notice{fill:#7d4e00}.warning{fill:#953800}
.critical{fill:#b62324}.unknown{fill:#59636e}.compacting{fill:#8250df}.i{fill:#eaeef2}.iwarning{fill:#7a5200}.icritical,.icompacting{fill:#b62324}
.it{fill:#1f2328}.on{fill:#fff}.p{stroke:#0969da}.a{fill:#0969da}.m{stroke:#b62324}}
`

// drawer writes an animated picture. What changes is a strip of states, one below the other, that jumps past a window as high as
// one of them.
type drawer struct {
	bytes.Buffer
	frames []frame
	at     []float64 // when each frame begins, in percent of the whole
	whole  time.Duration
	still  int // the frame that stands where nothing may move
	rules  bytes.Buffer
	strips int
}

// draw draws frames; still is the number of the one that viewers without motion show.
func draw(frames []frame, still int) []byte {
	d := &drawer{frames: frames, still: still}
	for _, f := range frames {
		d.whole += f.lasts
	}
	var at time.Duration
	for _, f := range frames {
		d.at = append(d.at, 100*float64(at)/float64(d.whole))
		at += f.lasts
	}
	last := frames[len(frames)-1].view
	d.window(0, terminalWidth, "agent", "Claude Code in a terminal")
	d.terminal()
	d.window(editorX, editorWidth, "editor", "VS Code · "+last.Model)
	d.editor()
	d.plot()
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="a recorded session of an agent, and the editor that shows its context window">`+"\n",
		filmWidth, filmHeight, filmWidth, filmHeight)
	fmt.Fprintf(&out, "<style>%s@media (prefers-reduced-motion:no-preference){\n%s}</style>\n", filmStyle, d.rules.String())
	out.Write(d.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// window draws the frame of a program, with a title.
func (d *drawer) window(x, width int, who, title string) {
	fmt.Fprintf(d, `<rect class="w" x="%d.5" y=".5" width="%d" height="%d" rx="8"/><path class="l" d="M%d %dh%d"/>`+"\n", x, width-1, filmHeight-1, x, top-11, width)
	d.text(float64(x+14), 20, "u", who)
	d.text(float64(x+14)+float64(len(who)+2)*cell, 20, "d", title)
}

// text writes a text whose columns no viewer moves, whatever its font.
func (d *drawer) text(x float64, y int, class, words string) {
	words = strings.TrimRight(words, " ")
	trimmed := strings.TrimLeft(words, " ")
	if trimmed == "" {
		return
	}
	x += float64(utf8.RuneCountInString(words)-utf8.RuneCountInString(trimmed)) * cell
	if class == "t" { // the text's own colour
		class = ""
	} else {
		class = fmt.Sprintf(` class="%s"`, class)
	}
	fmt.Fprintf(d, `<text xml:space="preserve"%s x="%.1f" y="%d" textLength="%.1f">`, class, x, y, float64(utf8.RuneCountInString(trimmed))*cell)
	_ = xml.EscapeText(d, []byte(trimmed)) // a Buffer takes everything
	d.WriteString("</text>\n")
}

// strip begins a strip that stands where place says for each frame; its end is "</g></svg>".
func (d *drawer) strip(x, y, width, height int, axis string, place func(i int) float64) {
	d.strips++
	name := fmt.Sprintf("s%d", d.strips)
	fmt.Fprintf(&d.rules, "#%s{animation:%s %.2fs step-end infinite}@keyframes %s{", name, name, d.whole.Seconds(), name)
	for i := range d.frames {
		if i == 0 || place(i) != place(i-1) {
			fmt.Fprintf(&d.rules, "%.2f%%{transform:translate%s(%.6gpx)}", d.at[i], axis, place(i))
		}
	}
	d.rules.WriteString("}\n")
	move := fmt.Sprintf("%.6g 0", place(d.still))
	if axis == "Y" {
		move = fmt.Sprintf("0 %.6g", place(d.still))
	}
	fmt.Fprintf(d, `<svg x="%d" y="%d" width="%d" height="%d"><g id="%s" transform="translate(%s)">`+"\n", x, y, width, height, name, move)
}

// states draws a strip with a state for each text that differs from the one before.
func (d *drawer) states(x, y, width, height int, key func(frame) string, state func(f frame, y int)) {
	var at []int
	n := -1
	for i, f := range d.frames {
		if i == 0 || key(f) != key(d.frames[i-1]) {
			n++
		}
		at = append(at, n)
	}
	d.strip(x, y, width, height, "Y", func(i int) float64 { return float64(-at[i] * height) })
	for i, f := range d.frames {
		if i == 0 || at[i] != at[i-1] {
			state(f, at[i]*height)
		}
	}
	d.WriteString("</g></svg>\n")
}

// terminal draws the agent's: what it did scrolls up, above the prompt and the line of ctxls.
func (d *drawer) terminal() {
	var bottom []int // rows in each frame
	rows := 0
	for _, f := range d.frames {
		rows += len(f.rows)
		bottom = append(bottom, rows)
	}
	d.strip(1, top, terminalWidth-2, filmRows*rowHeight, "Y", func(i int) float64 { return float64(-max(0, bottom[i]-filmRows) * rowHeight) })
	y, clear := 0, 0
	for i, f := range d.frames {
		for _, r := range f.rows {
			if r.class == "u" {
				fmt.Fprintf(d, `<rect class="g" x="8" y="%d" width="%d" height="%d"/>`, y, terminalWidth-18, rowHeight)
			}
			d.text(14, y+13, r.class, r.text)
			y += rowHeight
		}
		// Below what fits is nothing yet: until then a curtain hides the rows to come.
		if bottom[i] <= filmRows {
			clear = bottom[i]
		}
	}
	d.WriteString("</g></svg>\n")
	if clear > 0 {
		d.strip(2, top, terminalWidth-4, filmRows*rowHeight, "Y", func(i int) float64 { return float64(min(bottom[i], filmRows) * rowHeight) })
		fmt.Fprintf(d, `<rect class="w" style="stroke:none" width="%d" height="%d"/></g></svg>`+"\n", terminalWidth-4, filmRows*rowHeight)
	}
	at := top + filmRows*rowHeight + 8
	fmt.Fprintf(d, `<path class="l" d="M8 %dh%dM8 %dh%d"/>`, at, terminalWidth-16, at+26, terminalWidth-16)
	d.text(14, at+17, "d", "❯")
	d.states(1, at+32, terminalWidth-2, 24, func(f frame) string { return f.status + f.color }, func(f frame, y int) {
		gauge, rest, _ := strings.Cut(f.status, " · ")
		d.text(14, y+15, f.color, gauge)
		d.text(14+float64(utf8.RuneCountInString(gauge))*cell, y+15, "d", strings.TrimRight(" · "+rest, " ·"))
	})
	d.text(14, at+72, "d", "? for shortcuts")
}

// editor draws the figures of the session, the files in use, and the status bar.
func (d *drawer) editor() {
	d.states(editorX+1, top, editorWidth-2, 76, func(f frame) string { return headline(f.view) + filled(f.view) + levelOf(f.view) + remaining(f.view) }, func(f frame, y int) {
		share := headline(f.view)
		fmt.Fprintf(d, `<text class="%s big" x="14" y="%d">%s</text>`+"\n", levelOf(f.view), y+36, share)
		d.text(120, y+22, "t", filled(f.view))
		d.text(120, y+40, "d", remaining(f.view))
		d.text(14, y+64, levelOf(f.view), levelOf(f.view))
	})
	d.text(editorX+14, plotTop+plotHeight+32, "d", "works on")
	d.states(editorX+1, plotTop+plotHeight+38, editorWidth-2, filesShown*rowHeight+4, func(f frame) string { return files(f.view) }, func(f frame, y int) {
		for i, name := range strings.Split(files(f.view), "\n") {
			d.text(14, y+14+i*rowHeight, "t", cutTo(name, 52))
		}
	})
	bar := filmHeight - barHeight - 1
	fmt.Fprintf(d, `<path class="b" d="M%d %dh%dv%dq0 8-8 8h-%dq-8 0-8-8z"/>`, editorX+1, bar, editorWidth-2, barHeight-8, editorWidth-18)
	d.text(editorX+14, bar+17, "d", "main")
	d.states(editorX+180, bar, editorWidth-190, barHeight, func(f frame) string { return gaugeItem(f.view) + levelOf(f.view) }, func(f frame, y int) {
		words, level := gaugeItem(f.view), levelOf(f.view)
		words = icons[level] + " " + words
		width := float64(utf8.RuneCountInString(words))*cell + 16
		x := editorWidth - 190 - width
		class := "it"
		if level == "warning" || level == "critical" || level == "compacting" {
			class = "it on"
		}
		fmt.Fprintf(d, `<rect class="i i%s" x="%.1f" y="%d" width="%.1f" height="%d" rx="3"/>`, level, x, y+3, width, barHeight-6)
		d.text(x+8, y+17, class, words)
	})
}

// icons stand for those of VS Code's font.
var icons = map[string]string{"normal": "∿", "notice": "∿", "warning": "⚠", "critical": "▲", "compacting": "↻", "unknown": "∿"}

// plot draws how full the window was all along, of which a curtain shows as much as has happened.
func (d *drawer) plot() {
	const left, width = editorX + 14, editorWidth - 28
	height := func(v core.SessionView) (float64, bool) {
		if v.Usage.Tokens == nil {
			return 0, false
		}
		return float64(plotHeight) * float64(*v.Usage.Tokens) / float64(v.Usage.WindowTokens), true
	}
	var line strings.Builder
	start, y := 0.0, 0.0
	for i, f := range d.frames {
		h, known := height(f.view)
		if !known {
			continue
		}
		if y = plotHeight - h; line.Len() == 0 {
			start = d.x(i, width)
			fmt.Fprintf(&line, "M%.1f %.1f", start, y)
		}
		fmt.Fprintf(&line, "H%.1fV%.1f", d.x(i, width), y)
	}
	fmt.Fprintf(&line, "H%d", width)
	fmt.Fprintf(d, `<rect class="b" x="%d" y="%d" width="%d" height="%d"/>`+"\n", left, plotTop, width, plotHeight)
	fmt.Fprintf(d, `<svg x="%d" y="%d" width="%d" height="%d"><path class="a" d="%sV%dH%.1fz"/><path class="p" d="%s"/></svg>`+"\n",
		left, plotTop, width, plotHeight, line.String(), plotHeight, start, line.String())
	d.strip(left, plotTop, width, plotHeight, "X", func(i int) float64 { return d.x(i+1, width) })
	fmt.Fprintf(d, `<rect class="b" width="%d" height="%d"/></g></svg>`+"\n", width, plotHeight)
	if at := d.frames[len(d.frames)-1].view.Usage; at.CompactionTokens != nil {
		y := plotTop + plotHeight - plotHeight**at.CompactionTokens/at.WindowTokens
		fmt.Fprintf(d, `<path class="m" d="M%d %dh%d"/>`, left, y, width)
		d.text(left+6, y-5, "d", "the host compacts")
	}
	d.text(editorX+121, top+64, "d", "tokens in the window, so far:")
}

// x is where a frame begins in a plot; the one after the last is its end.
func (d *drawer) x(i, width int) float64 {
	if i >= len(d.at) {
		return float64(width)
	}
	return d.at[i] * float64(width) / 100
}

// stands is the frame for viewers without motion: the last text of ctxls after a compaction, so that all of the story is there.
func stands(frames []frame) int {
	still := len(frames) - 1
	for i, f := range frames {
		for _, r := range f.rows {
			if f.view.Compactions > 0 && r.class == "c" && strings.Contains(r.text, "▸ from before") {
				still = i
			}
		}
	}
	return still
}
