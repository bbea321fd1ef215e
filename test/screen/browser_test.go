//go:build !windows

package screen

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium with one page, driven by its DevTools protocol over a pipe
// (https://chromedevtools.github.io/devtools-protocol).
type browser struct {
	t       *testing.T
	to      io.Writer
	session string

	mu      sync.Mutex
	last    int
	answers map[int]chan message
	loaded  chan struct{}
	asked   []string // the URLs that anything on the page asked for
	said    []string // what it wrote to the console, and what the browser complained of
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// startBrowser starts a browser that is gone when the test ends.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		cannotRun(t, "chromium")
	}
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-component-update",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+profile, "--lang=en-US", "about:blank")
	cmd.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C.UTF-8")
	fromUs, toBrowser, err1 := os.Pipe()
	fromBrowser, toUs, err2 := os.Pipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	cmd.ExtraFiles = []*os.File{fromUs, toUs} // file descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fromUs.Close()
	toUs.Close()
	b := &browser{t: t, to: toBrowser, answers: map[int]chan message{}, loaded: make(chan struct{}, 1)}
	t.Cleanup(func() {
		toBrowser.Close() // which ends it
		ended := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		ended.Stop()
		fromBrowser.Close()
		os.RemoveAll(profile)
	})
	go b.listen(fromBrowser)
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type == "page" && b.session == "" {
			var attached struct{ SessionID string }
			b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
			b.session = attached.SessionID
		}
	}
	for _, domain := range []string{"Page", "Network", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// cannotRun skips a test for which a program is missing, except where everything must run.
func cannotRun(t *testing.T, program string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing; sh internal/tools/needs.sh installs it", program)
	}
	t.Skipf("%s is missing; sh internal/tools/needs.sh installs it", program)
}

func (b *browser) listen(from io.Reader) {
	in := bufio.NewReader(from)
	for {
		raw, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(raw[:len(raw)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		switch {
		case m.ID != 0:
			b.answers[m.ID] <- m
			delete(b.answers, m.ID)
		case m.Method == "Page.loadEventFired":
			b.loaded <- struct{}{}
		case m.Method == "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			_ = json.Unmarshal(m.Params, &p)
			b.asked = append(b.asked, p.Request.URL)
		case m.Method == "Runtime.exceptionThrown", m.Method == "Runtime.consoleAPICalled", m.Method == "Log.entryAdded":
			b.said = append(b.said, string(m.Params))
		}
		b.mu.Unlock()
	}
}

// call calls a method and reads its result into one.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.answers[id] = answer
	b.mu.Unlock()
	call := map[string]any{"id": id, "method": method, "params": params}
	if b.session != "" {
		call["sessionId"] = b.session
	}
	raw, err := json.Marshal(call)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(raw, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v in %s", method, err, m.Result)
			}
		}
	case <-time.After(30 * time.Second):
		b.t.Fatalf("%s: no answer", method)
	}
}

// open opens a file on a screen of a size, under a system that prefers light or dark, and waits until it is drawn.
func (b *browser) open(file string, width, height int, theme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": theme}}}, nil)
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	select {
	case <-b.loaded:
	case <-time.After(30 * time.Second):
		b.t.Fatalf("%s is not loaded", file)
	}
	if drawn := eval[string](b, `document.documentElement.dataset.drawn || "no"`); drawn != "yes" {
		b.t.Fatalf("nothing was drawn: %v", b.said)
	}
}

// eval evaluates an expression on the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value T }
		ExceptionDetails *json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, *answer.ExceptionDetails)
	}
	return answer.Result.Value
}

// press presses a key.
func (b *browser) press(key string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		p := map[string]any{"type": kind, "key": key, "code": key}
		if key == "Enter" {
			p["windowsVirtualKeyCode"], p["text"] = 13, "\r"
		}
		b.call("Input.dispatchKeyEvent", p, nil)
	}
}

// picture returns a PNG of the page's upper part.
func (b *browser) picture(width, height int) []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true, "clip": map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}

// quiet fails the test if the page asked for anything but itself, or complained.
func (b *browser) quiet(file string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.asked {
		if url != "file://"+file {
			b.t.Errorf("the page asked for %s", url)
		}
	}
	if len(b.asked) == 0 {
		b.t.Error("not even the page was asked for: requests are not seen")
	}
	if len(b.said) > 0 {
		b.t.Errorf("the page or the browser complained:\n%s", strings.Join(b.said, "\n"))
	}
}
