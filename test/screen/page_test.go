//go:build !windows

package screen

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shop is where the session that is opened first works: a path with no place to break it.
const shop = "/home/dev/checkouts/customers_and_their_orders_of_the_last_ten_years/shop"

// busy is a machine on which a few sessions have worked, one of them under a name that was chosen to do harm.
func busy(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	evil := `</script><script>window.owned=1</script><img src=http://127.0.0.1:9/x onerror=window.owned=2>`
	m.turn("evil"+strings.ReplaceAll(evil, "/", "_"), "/tmp/"+evil, 20_000)
	m.run(`{"session_id":"33e50cf9-0f1e","cwd":"/home/dev/notes","hook_event_name":"SessionStart","source":"startup"}`, "hook", "claude-code")
	m.turn("77e1b9f0-1b63", "/home/dev/kernel", 61_000)
	for _, tokens := range []int{42_000, 71_000, 96_000, 118_000, 149_000} {
		m.turn("c203db13-ae41", shop, tokens)
	}
	m.compact("c203db13-ae41", shop)
	for _, tokens := range []int{38_000, 64_000, 91_000, 143_912} {
		m.turn("c203db13-ae41", shop, tokens)
	}
	var calls strings.Builder
	for i := range 160 {
		fmt.Fprintf(&calls, `{"jsonrpc":"2.0","id":%d,"method":"metrics/record","params":{"taskId":"t%d","tokens":%d}}`+"\n", i, i, 18_000+(i*i*7919)%97_000+(i*i*i*31)%71_000+i%23/22*90_000)
	}
	m.run(calls.String(), "serve", "--framing=line")
	return m
}

// The page in a real browser: it is drawn, loads nothing, runs no code from the data, works with keys, has both themes,
// fits narrow screens and can be printed.
func TestPage(t *testing.T) {
	m := busy(t)
	file := filepath.Join(m.home, "report.html")
	if out := m.run("", "report", "--html", file); out != "ctxls: wrote "+file+"\n" {
		t.Errorf("said %q", out)
	}
	b := startBrowser(t)
	pictures := map[string][]byte{}
	for _, theme := range []string{"light", "dark"} {
		b.open(file, 1200, 900, theme)
		bright := eval[float64](b, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, c) => a + +c, 0) / 765`)
		if (bright > 0.5) != (theme == "light") {
			t.Errorf("%s: the ground's brightness is %.2f", theme, bright)
		}
		checkContrast(t, b, theme)
		pictures[theme] = b.picture(1200, 1900)
		for _, width := range []int{320, 390, 700, 1000, 2560} {
			b.open(file, width, 844, theme)
			if wide := eval[int](b, `Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll("#sessions td, section")].map(e => e.getBoundingClientRect().right))`); wide > width {
				t.Errorf("%s: on a screen of %d pixels the page is %d wide", theme, width, wide)
			}
			if width == 390 {
				pictures[theme+"-narrow"] = b.picture(390, 2600)
			}
		}
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	if ground := eval[string](b, `getComputedStyle(document.body).backgroundColor`); ground != "rgb(255, 255, 255)" {
		t.Errorf("printed from a dark screen, the ground is %s", ground)
	}
	b.open(file, 1200, 900, "light")

	// Every plot is in the document, with a description in words.
	for selector, least := range map[string]int{
		"#sizes svg rect.bar": 5, "#sizes svg path.rest": 1, "#sizes svg line.limit": 3, "#sessions svg.spark path.curve": 2, "#sessions .meter": 4, "#sizes details tbody tr": 5,
		"#history path.curve": 1, "#history .compaction": 1, "#parts .meter": 4, "#turn .meter": 1, "#plan .advice": 1, "#compactions .soft": 1, "#files .path": 1, "figure svg[aria-label]": 2, "figure input[aria-label]": 2,
	} {
		if got := eval[int](b, `document.querySelectorAll("`+selector+`").length`); got < least {
			t.Errorf("%d %s, want at least %d", got, selector, least)
		}
	}
	if cut := eval[int](b, `[...document.querySelectorAll("#session .path")].filter(e => !e.checkVisibility() || e.scrollWidth > e.clientWidth).length`); cut > 0 {
		t.Errorf("%d paths of files are cut off", cut)
	}
	text := eval[string](b, `document.body.innerText`)
	for _, want := range []string{"not accounted for", "results of Read", "src/main.go", "?/200k", "4 sessions"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	if unlabelled := eval[int](b, `[...document.querySelectorAll("svg, input, button")].filter(e => !(e.getAttribute("aria-label") || e.textContent.trim() || document.querySelector('label[for="' + e.id + '"]'))).length`); unlabelled > 0 {
		t.Errorf("%d plots or controls have no name", unlabelled)
	}

	// By keys: read the values of a plot, sort, filter, open another session, choose a theme.
	eval[any](b, `document.querySelector("#size").focus()`)
	said := eval[string](b, `document.querySelector("#sizes .reading").textContent`)
	b.press("ArrowRight")
	if read := eval[string](b, `document.querySelector("#size").getAttribute("aria-valuetext")`); !strings.Contains(read, " of all are larger") || read == said {
		t.Errorf("the keys read %q after %q", read, said)
	}
	eval[any](b, `document.querySelector("#by-share").focus()`)
	b.press("Enter")
	if first := eval[string](b, `document.querySelector("#sessions tbody tr td").textContent`); first != "shop" {
		t.Errorf("the fullest is %q", first)
	}
	if last := eval[string](b, `[...document.querySelectorAll("#sessions tbody tr")].at(-1).cells[0].textContent`); last != "notes" {
		t.Errorf("what is unknown is not last, but %q", last)
	}
	eval[any](b, `{ const f = document.getElementById("filter"); f.value = "KERNEL"; f.dispatchEvent(new Event("input")); document.querySelector("#sessions td button").focus() }`)
	b.press("Enter")
	if title := eval[string](b, `document.activeElement.textContent`); title != "kernel" {
		t.Errorf("opened %q", title)
	}
	if points := eval[int](b, `document.querySelectorAll("#history circle.dot").length`); points < 1 {
		t.Errorf("%d points in the plot of two responses of one moment", points)
	}
	eval[any](b, `document.getElementById("theme").click(), document.getElementById("theme").click()`)
	if ground := eval[string](b, `getComputedStyle(document.body).backgroundColor`); ground != "rgb(16, 20, 24)" {
		t.Errorf("the dark theme's ground is %s", ground)
	}
	if owned := eval[bool](b, `"owned" in window || document.querySelector("img") !== null || document.querySelectorAll("script").length !== 2`); owned {
		t.Error("what the data holds became a part of the page")
	}
	var pdf struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"printBackground": true}, &pdf)
	if len(pdf.Data) < 10_000 {
		t.Errorf("printed, it has %d bytes", len(pdf.Data))
	}
	b.quiet(file)

	for name, data := range pictures { // nothing was left out
		if picture, err := png.Decode(bytes.NewReader(data)); err != nil || picture.Bounds().Dy() < 900 {
			t.Errorf("%s is no picture of a page (%v)", name, err)
		}
	}
}

// checkContrast holds the texts and lines of a theme to what can be read: 4.5 to 1 for text, 3 to 1 for what is drawn
// (WCAG 2.2, 1.4.3 and 1.4.11).
func checkContrast(t *testing.T, b *browser, theme string) {
	t.Helper()
	low := eval[[]string](b, `(() => {
		const style = getComputedStyle(document.documentElement), low = [];
		const light = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
		const of = name => { const v = style.getPropertyValue(name).trim(); return light(v.length === 4 ? "#" + [...v.slice(1)].map(c => c + c).join("") : v.slice(0, 7)); };
		for (const ground of ["--ground", "--card"]) for (const [name, least] of [["--ink", 4.5], ["--soft", 4.5], ["--plot", 3], ["--mark", 3], ["--link", 4.5], ["--focus", 3], ["--normal", 4.5], ["--notice", 4.5], ["--warning", 4.5], ["--critical", 4.5]]) {
			const [a, c] = [of(ground), of(name)].sort((x, y) => y - x), ratio = (a + .05) / (c + .05);
			if (!(ratio >= least)) low.push(name + " on " + ground + ": " + ratio.toFixed(2));
		}
		return low;
	})()`)
	if len(low) > 0 {
		t.Errorf("%s: too little contrast: %v", theme, low)
	}
}

// The page's figures of a session agree with each other, for every limit. Estimates are marked, the plot shows a single
// response, and counts of one use the singular.
func TestPageOfOneSession(t *testing.T) {
	m := newMachine(t)
	config := filepath.Join(m.home, "config.json")
	if err := os.WriteFile(config, []byte(`{"tracking": {"maxTokens": null}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m.run(`{"event":"prompt","sessionId":"s1","cwd":"/home/dev/shop","model":"qwen-9","windowTokens":32000,"text":"`+strings.Repeat("what sells best? ", 1000)+`"}`, "hook", "generic")
	file := filepath.Join(m.home, "report.html")
	m.run("", "report", "--html", file, "--config", config)
	b := startBrowser(t)
	b.open(file, 1200, 900, "light")
	said := eval[string](b, `document.querySelector("#gauge").innerText`)
	if !regexp.MustCompile(`(?s)^~[01]%\s+of 1M, ~\d+,\d+ tokens left.*Tokens\s+~[\d,]+, \d+\.\d% of the window`).MatchString(said) {
		t.Errorf("the page says %q", said)
	}
	if left := eval[string](b, `document.querySelector("#sessions tbody tr").cells[7].textContent`); !strings.HasPrefix(left, "~") {
		t.Errorf("to compaction are %q", left)
	}
	if points := eval[int](b, `document.querySelectorAll("#history circle.dot").length`); points != 1 {
		t.Errorf("%d points in the plot of a moment", points)
	}
	if count := eval[string](b, `document.getElementById("count").textContent`); count != "1 session" {
		t.Errorf("there are %q", count)
	}
}

// A machine without any sessions has a page, too.
func TestEmptyPage(t *testing.T) {
	m := newMachine(t)
	file := filepath.Join(m.home, "report.html")
	m.run("", "report", "--html", file)
	b := startBrowser(t)
	b.open(file, 800, 600, "light")
	text := eval[string](b, `document.body.innerText`)
	for _, want := range []string{"No task was recorded yet", "No sessions yet"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	b.quiet(file)
}

// With few tasks, the axis of their number has only whole numbers.
func TestPageOfFewTasks(t *testing.T) {
	m := newMachine(t)
	for i := range 5 {
		m.run(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"metrics/record","params":{"taskId":"t%d","tokens":15000}}`, i), "serve")
	}
	file := filepath.Join(m.home, "report.html")
	m.run("", "report", "--html", file)
	b := startBrowser(t)
	b.open(file, 800, 600, "light")
	counts := eval[[]string](b, `[...document.querySelectorAll("#sizes svg text[text-anchor=end]")].map(e => e.textContent).filter(s => !/k/.test(s))`)
	if got, want := strings.Join(counts, " "), "0 2 4 6 8"; got != want {
		t.Errorf("the axis of tasks says %q, want %q", got, want)
	}
}
