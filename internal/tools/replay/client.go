package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// client is an editor's end of `ctxls serve`: JSON-RPC on the server's standard streams, framed as in LSP.
type client struct {
	server *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	lastID int
}

// message is any message of JSON-RPC.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      *int            `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// serverInfo is who answered.
type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// connect starts a server in the given directory and environment, and shakes hands.
func connect(ctx context.Context, bin, dir string, env []string) (*client, serverInfo, error) {
	c := &client{server: exec.CommandContext(ctx, bin, "serve")}
	c.server.Dir, c.server.Env, c.server.Stderr = dir, env, &c.stderr
	in, err := c.server.StdinPipe()
	if err != nil {
		return nil, serverInfo{}, err
	}
	out, err := c.server.StdoutPipe()
	if err != nil {
		return nil, serverInfo{}, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := c.server.Start(); err != nil {
		return nil, serverInfo{}, fmt.Errorf("starting ctxls serve: %w", err)
	}
	var hello struct {
		ServerInfo serverInfo `json:"serverInfo"`
	}
	err = c.call("initialize", map[string]any{
		"processId":             os.Getpid(),
		"clientInfo":            map[string]string{"name": "replay"},
		"initializationOptions": map[string]string{"sessions": "all"},
	}, &hello)
	if err == nil {
		err = c.send(message{Method: "initialized", Params: struct{}{}})
	}
	if err != nil {
		c.kill()
		return nil, serverInfo{}, err
	}
	return c, hello.ServerInfo, nil
}

// call sends a request and waits for its response. Notifications that come before it are passed over: the replay looks after
// each hook, so that its log is the same every time.
func (c *client) call(method string, params, result any) error {
	c.lastID++
	id := c.lastID
	if err := c.send(message{ID: &id, Method: method, Params: params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		answer, err := c.receive()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w; the server said: %s", method, err, strings.TrimSpace(c.stderr.String()))
		case answer.ID == nil || *answer.ID != id:
			continue
		case answer.Error != nil:
			return fmt.Errorf("%s: error %d: %s", method, answer.Error.Code, answer.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(answer.Result, result)
	}
}

func (c *client) send(m message) error {
	m.JSONRPC = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

func (c *client) receive() (message, error) {
	var m message
	header, err := textproto.NewReader(c.out).ReadMIMEHeader()
	if err != nil {
		return m, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return m, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.out, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

// close ends the server as an editor does. It must end with status 0.
func (c *client) close() error {
	if err := c.call("shutdown", nil, nil); err != nil {
		c.kill()
		return err
	}
	if err := c.send(message{Method: "exit"}); err != nil {
		c.kill()
		return err
	}
	_, _ = io.Copy(io.Discard, c.out)
	if err := c.server.Wait(); err != nil {
		return fmt.Errorf("ctxls serve: %w: %s", err, strings.TrimSpace(c.stderr.String()))
	}
	return nil
}

// kill ends a server that cannot be talked to.
func (c *client) kill() {
	_ = c.server.Process.Kill()
	_ = c.server.Wait()
}
