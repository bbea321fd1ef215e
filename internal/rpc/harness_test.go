package rpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/rpc/rpctest"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// peer is a client of a tested server.
type peer struct {
	rpctest.Client
	t       testing.TB
	server  *Server
	probe   *probe
	framing transport.Framing
	log     *rpctest.Log
}

// connect starts a server with the methods of probe beside its own and returns its client.
func connect(t testing.TB, framing transport.Framing, options Options) *peer {
	t.Helper()
	p := &peer{t: t, framing: framing, log: new(rpctest.Log)}
	options.Log = slog.New(slog.NewTextHandler(p.log, nil))
	options.Version = "1.2.3"
	p.server, p.probe = probed(options)
	p.Client = rpctest.Connect(t, p.server.Serve)
	return p
}

// send writes one message in the framing of the client.
func (p *peer) send(message string) {
	p.t.Helper()
	if _, err := io.WriteString(p.In, framed(p.framing, message)); err != nil {
		p.t.Errorf("sending: %v", err)
	}
}

func framed(framing transport.Framing, message string) string {
	if framing == transport.Line {
		return message + "\n"
	}
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(message), message)
}

// receive returns the next message of the server, or io.EOF.
func (p *peer) receive() (string, error) {
	p.Pipe.SetReadDeadline(time.Now().Add(rpctest.Timeout))
	return readFrame(p.Out, p.framing)
}

// readFrame reads strictly: exactly what the server is specified to write.
func readFrame(in *bufio.Reader, framing transport.Framing) (string, error) {
	line, err := in.ReadString('\n')
	if framing == transport.Line {
		if err == io.EOF && line != "" {
			return "", fmt.Errorf("a line without an end: %q", line)
		}
		return strings.TrimSuffix(line, "\n"), err
	}
	if err != nil {
		return "", err
	}
	var n int
	if _, err := fmt.Sscanf(line, "Content-Length: %d\r\n", &n); err != nil {
		return "", fmt.Errorf("header %q: %w", line, err)
	}
	if blank, _ := in.ReadString('\n'); blank != "\r\n" {
		return "", fmt.Errorf("after the header: %q", blank)
	}
	body := make([]byte, n)
	_, err = io.ReadFull(in, body)
	return string(body), err
}

// want receives one message and compares it.
func (p *peer) want(message string) {
	p.t.Helper()
	got, err := p.receive()
	if err != nil || got != message {
		p.t.Fatalf("received %q, %v\nwant     %q", got, err, message)
	}
}

// wantEnd checks that the server writes no more, and that Serve returns err.
func (p *peer) wantEnd(err error) {
	p.t.Helper()
	if got, rerr := p.receive(); rerr != io.EOF {
		p.t.Fatalf("received %q, %v, want the end", got, rerr)
	}
	if got := p.Wait(p.t); !errors.Is(got, err) {
		p.t.Fatalf("Serve returned %v, want %v", got, err)
	}
}

// reply has the members of a response that the tests look at.
type reply struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code string `json:"code"`
		} `json:"data"`
	} `json:"error"`
}

func (p *peer) reply() reply {
	p.t.Helper()
	text, err := p.receive()
	if err != nil {
		p.t.Fatalf("receiving: %v", err)
	}
	var r reply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		p.t.Fatalf("%q: %v", text, err)
	}
	return r
}

// probe implements methods that exist only in tests.
type probe struct {
	started chan string // names of the waiting calls, in the order of their starts
	release chan string // a name sent here ends the call of that name
	mu      sync.Mutex
	order   []string // names of the calls to test/note, in the order in which they ran
}

type waitParams struct {
	Name string `json:"name"`
}

type noteParams struct {
	SessionID string `json:"sessionId"`
	Name      string `json:"name"`
	Wait      bool   `json:"wait"`
}

func (p *noteParams) resolveSession(*Server) string { return p.SessionID }

type typedParams struct {
	Messages []struct {
		Role   string `json:"role"`
		Tokens int    `json:"tokens"`
	} `json:"messages"`
	Limit  *int   `json:"limit"`
	Exact  bool   `json:"exact"`
	Target uint32 `json:"target"`
	Rate   float64
	Extra  map[string][]string `json:"extra"`
}

func (p *typedParams) check() error {
	if p.Messages == nil {
		return invalid("messages", "required, expected an array")
	}
	if p.Limit != nil && *p.Limit < 1 {
		return invalid("limit", "expected a number above 0, got %d", *p.Limit)
	}
	return nil
}

// probed returns a server with test methods.
func probed(options Options) (*Server, *probe) {
	s, p := New(options), &probe{started: make(chan string, 1000), release: make(chan string)}
	waitFor := func(ctx context.Context, name string) (string, error) {
		p.started <- name
		for {
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case got := <-p.release:
				if got == name {
					return name, nil
				}
				select {
				case p.release <- got:
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}
		}
	}
	maps.Copy(s.methods, map[string]method{
		"test/echo": request(func(_ *Server, _ context.Context, p *json.RawMessage) (jsonrpc2.RawMessage, error) {
			return jsonrpc2.RawMessage(*p), nil
		}),
		"test/pretty": request(func(*Server, context.Context, *noParams) (jsonrpc2.RawMessage, error) {
			return jsonrpc2.RawMessage("{\n  \"a\": 1\n}"), nil
		}),
		"test/length": request(func(_ *Server, _ context.Context, p *json.RawMessage) (int, error) {
			return len(*p), nil
		}),
		"test/wait": request(func(_ *Server, ctx context.Context, w *waitParams) (string, error) {
			return waitFor(ctx, w.Name)
		}),
		"test/note": request(func(_ *Server, ctx context.Context, n *noteParams) (string, error) {
			if n.Wait {
				if _, err := waitFor(ctx, n.Name); err != nil {
					return "", err
				}
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.order = append(p.order, n.Name)
			return n.Name, nil
		}),
		"test/typed": request(func(_ *Server, _ context.Context, p *typedParams) (int, error) {
			return len(p.Messages), nil
		}),
		"test/panic": request(func(*Server, context.Context, *noParams) (any, error) {
			panic("boom in /home/me/secret.go")
		}),
		"test/panicAtOnce": immediate(func(*Server, context.Context, *noParams) (any, error) {
			panic("boom at once")
		}),
		"test/fail": request(func(_ *Server, _ context.Context, p *waitParams) (any, error) {
			switch p.Name {
			case "plain":
				return nil, errors.New("open /home/me/state.db: SELECT * FROM sessions")
			case "wrapped":
				return nil, fmt.Errorf("reading: %w", coded.Errorf(coded.NotFound, "no session %q", "s1"))
			case "unencodable":
				return func() {}, nil
			}
			return nil, coded.Errorf(coded.Code(p.Name), "said by the domain")
		}),
		"test/tell": request(func(s *Server, _ context.Context, p *waitParams) (any, error) {
			return nil, s.Notify("window/logMessage", LogMessageParams{Type: 3, Message: p.Name})
		}),
	})
	return s, p
}
