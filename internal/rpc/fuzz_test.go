package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.lsp.dev/jsonrpc2"
	"golang.org/x/tools/txtar"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/rpc/rpctest"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// seeds are the bodies of the transcripts, which contain all known difficult inputs.
func seeds(f *testing.F, add func(line string)) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"a":[1,"\ud800\"\\",{"b":null}]}}`,
		`{"jsonrpc":"2.0","id":"x","method":"test/turn","params":{"sessionId":"s"}}`,
		`{"jsonrpc":"2.0","id":"x","method":"$/cancelRequest","params":{"id":"x"}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"test/echo"},{"jsonrpc":"2.0","method":"test/panic"},1,{"id":5},{"jsonrpc":"2.0","id":5,"result":1}]`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"test/panic","params":[ ] , "extra" : { } } `,
		`{"jsonrpc":"2.0","id":-0,"method":"initialize"}`, `{"jsonrpc":"2.0","method":"initialized"}`,
		`{"jsonrpc":"2.0","params":["a\\"],"id":6,"method":"test/echo"}`, `{"jsonrpc":"2.0","id":1.5,"method":"shutdown"}`, `{"jsonrpc":"2.0","id":3,"method":"shutdown"}`,
		`{"jsonrpc":"2.0","\u0069d":4,"method":"test\/echo","params":null}`, `[]`, `[[[]]]`, `{}`, `5`, ``, `nonsense`, "\ufeff{}",
		"{\"jsonrpc\":\"\x7f\",\"id\":\"\x7f\"}", "{\"jsonrpc\":\"2.0\",\"method\":\"initialized\"}\f", "\f",
	} {
		add(line)
	}
}

// FuzzStream feeds raw bytes to the stream. The library must accept every message that the stream passes on. Every
// answer must be a frame of valid JSON, and the stream must end.
func FuzzStream(f *testing.F) {
	seeds(f, func(line string) {
		f.Add([]byte(framed(transport.Header, line) + framed(transport.Header, line)))
		f.Add([]byte(line + "\n\r\n" + line))
	})
	f.Add([]byte("Content-Length: 9999\r\n\r\n{}"))
	f.Add([]byte("content-length:2\nX: y\n\n{}Content-Length: -1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		s := transport.New(bytes.NewReader(input), &out, transport.Auto, 1000, slog.New(slog.DiscardHandler))
		for {
			body, _, err := s.ReadFrame(context.Background())
			if err == io.EOF {
				break
			}
			owed := false
			requests, err := jsonrpc2.ScanRequestViews(body)
			if err != nil || len(requests) == 0 {
				t.Fatalf("passed on %q: %v", body, err)
			}
			for _, r := range requests {
				if r.Err != nil {
					t.Fatalf("passed on %q: %v", body, r.Err)
				}
				owed = owed || r.View.Kind == jsonrpc2.MessageViewCall
			}
			if _, err := jsonrpc2.DecodeMessage(body); err != nil && !requests[0].Batch {
				t.Fatalf("passed on %q: %v", body, err)
			}
			if owed != (s.Owed() == 1) {
				t.Fatalf("owes %d replies to %q", s.Owed(), body)
			}
			if owed {
				s.WriteFrame(context.Background(), []byte(`{"jsonrpc":"2.0","id":"reply","result":null}`))
			}
		}
		readReplies(t, &out, s.Framing())
	})
}

// FuzzServer sends bodies, one after the other, to the whole server, with every method and a real store that all inputs
// share. Each ID must get as many answers as requests, and a message without a usable ID an answer with null. Clients
// must understand every answer.
func FuzzServer(f *testing.F) {
	service, configure := newConfiguredService(f)
	var all strings.Builder
	inLines := false
	seeds(f, func(line string) {
		all.WriteString(line + "\x00")
		inLines = !inLines
		f.Add([]byte(line), inLines)
	})
	f.Add([]byte(all.String()), false)
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"hook/handle","params":{"host":"claude-code","payload":{"hook_event_name":"PostToolBatch","session_id":"hostile","cwd":"/p",`+
		`"tool_calls":[{"tool_name":"Read","tool_input":{"file_path":"/p/a\u001b[31m\u202e\u2028.go"}}]}}}`+"\x00"+
		`{"jsonrpc":"2.0","id":2,"method":"hook/handle","params":{"host":"claude-code","payload":{"hook_event_name":"PreCompact","session_id":"hostile","cwd":"/p","trigger":"manual"}}}`), false)
	for name, lines := range examples(f) {
		if len(lines) == 0 {
			f.Fatalf("no transcript has an example of %s", name)
		}
		for _, line := range lines[:min(2, len(lines))] { // the first one usually succeeds
			f.Add(line, inLines)
		}
	}
	f.Fuzz(func(t *testing.T, input []byte, inLines bool) {
		framing := transport.Header
		if inLines {
			framing = transport.Line
			input = bytes.ReplaceAll(input, []byte("\n"), []byte(" "))
		}
		var in, out bytes.Buffer
		want := make(map[string]int)
		for _, body := range bytes.Split(input, []byte{0}) {
			if inLines && len(bytes.Trim(body, transport.Blanks)) == 0 {
				continue
			}
			in.WriteString(framed(framing, string(body)))
			if inLines { // a byte order mark is not part of a line
				if body = bytes.TrimPrefix(bytes.Trim(body, transport.Blanks), []byte("\ufeff")); len(body) == 0 {
					continue
				}
			}
			expect(body, want)
		}

		s, _ := probed(Options{Framing: framing, Service: service, Configure: configure})
		for _, name := range []string{"test/wait", "test/note", "test/echo"} { // exit gets no reply
			delete(s.methods, name)
		}
		s.methods["test/turn"] = request(func(_ *Server, ctx context.Context, p *noteParams) (string, error) {
			return p.Name, ctx.Err()
		})
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(context.Background(), &in, &out) }()
		select {
		case err := <-ended:
			if err != nil && err != ErrExit {
				t.Fatalf("Serve returned %v", err)
			}
		case <-time.After(rpctest.Timeout):
			t.Fatal("Serve does not return")
		}
		got := readReplies(t, &out, framing)
		if s.client.exited {
			return // messages after exit get no reply
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("replies by id (-want +got):\n%s", diff)
		}
	})
}

// readReplies checks that out holds frames of valid JSON and nothing else, and counts the replies by id.
func readReplies(t *testing.T, out *bytes.Buffer, framing transport.Framing) map[string]int {
	ids := make(map[string]int)
	in := bufio.NewReader(out)
	for {
		text, err := readFrame(in, framing)
		if err == io.EOF {
			return ids
		}
		if err != nil {
			t.Fatal(err)
		}
		var batch []json.RawMessage
		if json.Unmarshal([]byte(text), &batch) != nil {
			batch = []json.RawMessage{json.RawMessage(text)}
		}
		if len(batch) == 0 {
			t.Fatal("an empty batch of replies")
		}
		for _, one := range batch {
			var r map[string]json.RawMessage
			if err := json.Unmarshal(one, &r); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if r["method"] == nil {
				checkReply(t, one)
				ids[idKey(r["id"])]++
			}
		}
	}
}

// checkReply checks that a reply is a result, or an error with a code from the table and a printable message. Text for a
// model or a host must contain no control characters.
func checkReply(t *testing.T, txt []byte) {
	var r struct {
		JSONRPC string
		Result  json.RawMessage
		Error   *struct {
			Code    int
			Message string
			Data    struct{ Code coded.Code }
		}
	}
	if err := json.Unmarshal(txt, &r); err != nil || r.JSONRPC != "2.0" || (r.Result == nil) == (r.Error == nil) {
		t.Fatalf("a reply of neither kind: %q: %v", txt, err)
	}
	if e := r.Error; e != nil {
		if e.Code != int(transport.Numbers[e.Data.Code]) || e.Code == 0 || e.Message == "" || len(e.Message) > 5000 || e.Message != text.Sanitize(e.Message, 0) {
			t.Fatalf("an error that says %q", txt)
		}
		return
	}
	var handed struct {
		Output  string
		Context []string
		Effects []session.Effect
	}
	if json.Unmarshal(r.Result, &handed) != nil {
		return // another result
	}
	for _, e := range handed.Effects {
		handed.Context = append(append(handed.Context, e.Text), e.Lines...)
	}
	for _, said := range append(handed.Context, handed.Output) {
		if said != text.SanitizeLines(said) {
			t.Fatalf("%q is handed on in %q", said, txt)
		}
	}
}

// examples returns the requests of the transcripts by the name of their method.
func examples(f *testing.F) map[string][][]byte {
	found := map[string][][]byte{}
	for name := range methods {
		found[name] = nil
	}
	for _, file := range transcripts(f) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(archive.Files[0].Data) {
			var m struct{ Method string }
			_ = json.Unmarshal(line, &m)
			if _, ok := methods[m.Method]; ok {
				found[m.Method] = append(found[m.Method], bytes.TrimSpace(line))
			}
		}
	}
	return found
}

// expect counts the required replies to body by ID: a second implementation of the JSON-RPC 2.0 specification.
func expect(body []byte, want map[string]int) {
	var batch []json.RawMessage
	if !json.Valid(body) {
		want["null"]++
	} else if json.Unmarshal(body, &batch) != nil || batch == nil {
		expectOne(body, want)
	} else if len(batch) == 0 || len(batch) > transport.MaxBatch {
		want["null"]++
	} else {
		for _, member := range batch {
			expectOne(member, want)
		}
	}
}

func expectOne(message []byte, want map[string]int) {
	m := make(map[string]jsontext.Value)
	d := jsontext.NewDecoder(bytes.NewReader(message), transport.Lenient, jsontext.AllowDuplicateNames(true))
	if token, _ := d.ReadToken(); token.Kind() != '{' {
		want["null"]++
		return
	}
	for d.PeekKind() != '}' {
		name, _ := d.ReadValue()
		var plain string
		_ = json.Unmarshal(name, &plain) // an escape is the character that it stands for
		value, _ := d.ReadValue()
		m[plain] = value.Clone()
	}
	id, hasID := m["id"]
	key := idKey(id)
	_, hasResult := m["result"]
	_, hasError := m["error"]
	method, hasMethod := m["method"]
	switch {
	case string(m["jsonrpc"]) != `"2.0"`:
	case !hasMethod && (hasResult || hasError):
		return // a response
	case !hasMethod, method.Kind() != '"', hasResult, hasError:
	case !hasID:
		return // a notification
	}
	want[key]++
}

// idKey makes IDs comparable; an invalid ID is null.
func idKey(raw []byte) string {
	var text string
	var number int64
	switch {
	case len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		return "text " + text
	case len(raw) > 0 && raw[0] != 'n' && json.Unmarshal(raw, &number) == nil:
		key, _ := json.Marshal(number)
		return string(key)
	}
	return "null"
}
