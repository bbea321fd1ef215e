package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/jsonscan"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

// DefaultMaxLine is the largest accepted message, in bytes, if Options.MaxLine is 0. The SDK's own transport has the same limit, and
// models write less.
const DefaultMaxLine = 16 << 20

const (
	// maxInHand bounds the calls in progress. At the limit, nothing more is read, so a client that does not read its answers costs no
	// memory here.
	maxInHand = 64
	// oweAtEnd is the time for answers after the client closed its end.
	oweAtEnd = 5 * time.Second
)

// errClosed is the error of reading after Close.
var errClosed = errors.New("the connection is closed")

// wire is the SDK's transport and connection in one. It passes only well-formed messages to the SDK and answers the rest itself. It
// reports the end of the input only after all calls are answered, since the SDK drops later answers.
type wire struct {
	lines    *transport.Reader
	out      io.Writer
	log      *slog.Logger
	messages chan jsonrpc.Message // what was read
	room     chan struct{}        // one token for each call in hand
	closed   chan struct{}
	once     sync.Once // closes closed
	readErr  error     // why reading ended; set before messages is closed

	mu     sync.Mutex // guards writing and inHand
	inHand map[jsonrpc.ID]bool
}

var (
	_ sdk.Transport  = (*wire)(nil)
	_ sdk.Connection = (*wire)(nil)
)

func newWire(in io.Reader, out io.Writer, maxLine int, log *slog.Logger) *wire {
	return &wire{lines: transport.NewReader(in, transport.Line, int64(maxLine)), out: out, log: log, messages: make(chan jsonrpc.Message),
		room: make(chan struct{}, maxInHand), closed: make(chan struct{}), inHand: map[jsonrpc.ID]bool{}}
}

// Connect implements sdk.Transport.
func (w *wire) Connect(context.Context) (sdk.Connection, error) {
	go w.pump()
	return w, nil
}

// SessionID implements sdk.Connection.
func (w *wire) SessionID() string { return "" }

// Close ends the connection, even with open calls. It does not close the reader and the writer, which belong to the caller.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// Read implements sdk.Connection.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message, more := <-w.messages:
		if !more {
			return nil, w.readErr
		}
		return message, nil
	case <-w.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pump reads until the input ends.
func (w *wire) pump() {
	defer close(w.messages)
	for {
		line, err := w.lines.Next()
		if refused, ok := errors.AsType[*coded.Error](err); ok {
			w.refuse(nil, jsonrpc.CodeInvalidRequest, refused.Error())
			continue
		}
		if err != nil {
			w.readErr = err
			w.awaitAnswers()
			return
		}
		message := w.accept(line)
		if message == nil {
			continue
		}
		select {
		case w.messages <- message:
		case <-w.closed:
			return
		}
	}
}

// accept returns the message of a line, nil if there is none to pass on. A call waits for a free place.
func (w *wire) accept(line []byte) jsonrpc.Message {
	if err := jsonscan.Check(line); err != nil {
		w.refuse(nil, jsonrpc.CodeParseError, "the line is "+err.Error()+"; one message a line is expected")
		return nil
	}
	if line[0] == '[' {
		w.refuse(nil, jsonrpc.CodeInvalidRequest, "batches are not accepted; one message a line is expected")
		return nil
	}
	var members map[string]json.RawMessage // a struct would take "Id" for an id, which the SDK does not
	_ = json.Unmarshal(line, &members)     // what is no object has no members
	message, err := jsonrpc.DecodeMessage(line)
	if err == nil && !keepsID(members["id"]) {
		w.refuse(members["id"], jsonrpc.CodeInvalidRequest, "id: expected a string, or an integer of less than 2^53 either way")
		return nil
	}
	if err != nil || members["method"] == nil && members["result"] == nil && members["error"] == nil {
		w.refuse(members["id"], jsonrpc.CodeInvalidRequest,
			`expected a message: {"jsonrpc": "2.0", "id": string or integer, "method": string, "params": object}`)
		return nil
	}
	request, ok := message.(*jsonrpc.Request)
	if !ok || !request.IsCall() {
		return message
	}
	select {
	case w.room <- struct{}{}:
	case <-w.closed:
		return nil
	}
	w.mu.Lock()
	taken := w.inHand[request.ID]
	w.inHand[request.ID] = true
	w.mu.Unlock()
	if taken {
		<-w.room
		w.refuse(nil, jsonrpc.CodeInvalidRequest, "a request with this id is still being answered")
		return nil
	}
	return message
}

// keepsID reports whether the SDK returns an ID unchanged. It decodes a number as a float and converts it to an integer, and a client
// would not recognize another ID.
func keepsID(id json.RawMessage) bool {
	var number float64
	if json.Unmarshal(id, &number) != nil {
		return true // it is none, or no number
	}
	return number == math.Trunc(number) && math.Abs(number) < 1<<53
}

// awaitAnswers returns when no call is in progress any more, when the connection was closed, or after oweAtEnd.
func (w *wire) awaitAnswers() {
	late := time.After(oweAtEnd)
	for range maxInHand {
		select {
		case w.room <- struct{}{}:
		case <-w.closed:
			return
		case <-late:
			return
		}
	}
}

// Write implements sdk.Connection.
func (w *wire) Write(_ context.Context, message jsonrpc.Message) error {
	response, isResponse := message.(*jsonrpc.Response)
	if isResponse && response.Error != nil {
		told := jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest} // an error without a code is about a request at the wrong time
		if coded, ok := errors.AsType[*jsonrpc.Error](response.Error); ok {
			told = *coded
		}
		told.Message = text.Sanitize(plainError(response.Error.Error()), maxError) // it may quote the whole request
		response.Error = &told
	}
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	return w.write(data, func() {
		if isResponse && w.inHand[response.ID] {
			delete(w.inHand, response.ID)
			<-w.room
		}
	})
}

// refuse answers a message that the SDK does not get, under its ID if it has one.
func (w *wire) refuse(id json.RawMessage, code int, why string) {
	w.log.Warn("refused a message", "reason", why)
	if id == nil || id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		id = json.RawMessage("null")
	}
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, &jsonrpc.Error{Code: int64(code), Message: why}})
	if err == nil {
		_ = w.write(data, func() {})
	}
}

// write writes one line, and calls written before the next one can be written.
func (w *wire) write(data []byte, written func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer written()
	_, err := w.out.Write(append(data, '\n'))
	if err != nil {
		w.log.Info("the client reads no more", "error", err)
		w.Close()
	}
	return err
}
