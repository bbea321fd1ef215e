//go:build linux && e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Model plays the API of a model's provider, and keeps what it was asked. The type that embeds it
// decides on the answers.
type Model struct {
	URL string

	t        *testing.T
	mu       sync.Mutex
	requests []Request
	noted    int
}

// A Request is one that a model received.
type Request struct {
	// Kind is the script that answered it, "summary" of a compaction, or what else the test calls it.
	Kind string
	At   time.Time
	Body map[string]any
}

// Start has the model answer at URL until the test ends.
func (m *Model) Start(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body map[string]any)) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		var body map[string]any
		if err == nil && len(data) > 0 {
			err = json.Unmarshal(data, &body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, r, body)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	m.t, m.URL = t, server.URL
}

// Note records a request and returns its number, from 1 on.
func (m *Model) Note(kind string, body map[string]any) (id int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, Request{kind, time.Now(), body})
	m.noted++
	return m.noted
}

// Requests returns the requests so far, oldest first.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Forget forgets the requests so far.
func (m *Model) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = nil
}

// Asked returns the requests of a kind so far, oldest first.
func (m *Model) Asked(kind string) (of []Request) {
	for _, r := range m.Requests() {
		if r.Kind == kind {
			of = append(of, r)
		}
	}
	return of
}

// Last returns the newest request of a kind.
func (m *Model) Last(kind string) Request {
	m.t.Helper()
	of := m.Asked(kind)
	if len(of) == 0 {
		m.t.Fatalf("the model was never asked for %q; kinds asked: %v", kind, m.Kinds())
	}
	return of[len(of)-1]
}

// Kinds returns what kind each request was of.
func (m *Model) Kinds() (kinds []string) {
	for _, r := range m.Requests() {
		kinds = append(kinds, r.Kind)
	}
	return kinds
}

var mark = regexp.MustCompile(`\[\[([a-z0-9-]+)\]\]`)

// requoted is a line in which ctxls quotes an earlier prompt of the user after a compaction: it asks for no script.
var requoted = regexp.MustCompile(`(?m)^  - [^"\n]*: ".*"$`)

// Marked returns the scripts that texts name, as in [[name]].
func Marked(texts []string) (names []string) {
	for _, m := range mark.FindAllStringSubmatch(requoted.ReplaceAllString(strings.Join(texts, "\n"), ""), -1) {
		names = append(names, m[1])
	}
	return names
}

// Script returns what a model that answers by scripts says next in a conversation, and by which script: that which the newest message
// with a name of one names last, else the one without a name. Each answer that the model gave since is one reply of the script,
// whose last goes on for ever. role is the model's own in messages, textsOf returns what one says.
func Script[R any](scripts map[string][]R, messages []any, role string, textsOf func(any) []string) (name string, reply R, ok bool) {
	answered := 0
	for _, v := range slices.Backward(messages) {
		message := v.(map[string]any)
		if message["role"] == role {
			answered++
			continue
		}
		if names := Marked(textsOf(message)); len(names) > 0 && len(scripts[names[len(names)-1]]) > 0 {
			name = names[len(names)-1]
			break
		}
	}
	script := scripts[name]
	if len(script) == 0 {
		return "", reply, false
	}
	return name, script[min(answered, len(script)-1)], true
}

// Stream begins a stream of events as Anthropic and OpenAI send them, and returns what sends one.
func Stream(w http.ResponseWriter) (send func(event string, members map[string]any)) {
	w.Header().Set("Content-Type", "text/event-stream")
	return func(event string, members map[string]any) {
		members["type"] = event
		data, _ := json.Marshal(members)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data)
	}
}

// Hang answers nothing until the client has gone, or for longer than a test needs to end it. (Gemini CLI goes on at SIGTERM
// until it is answered.)
func Hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(15 * time.Second):
	}
}
