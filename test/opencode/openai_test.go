//go:build linux && e2e

package opencode

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/test/e2e"
)

// newOpenAI starts a model that answers as the usual one does, but speaks OpenAI's API of chat completions.
func newOpenAI(t *testing.T, w *testEnv) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") || json.NewDecoder(r.Body).Decode(&body) != nil {
			http.NotFound(out, r)
			return
		}
		id, reply := w.model.Next(body)
		e2e.AnswerOpenAI(out, r, body, id, reply)
	}))
	t.Cleanup(server.Close)
	return server
}
