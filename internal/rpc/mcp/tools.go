package mcp

import (
	"context"
	_ "embed"
	stdjson "encoding/json"
	"errors"
	"runtime/debug"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
)

// maxError bounds an error message, in characters, since it may quote the request.
const maxError = 1000

// tool is a tool that only reads: its description and its function. Its answer is text, and the same as data.
type tool struct {
	name, title, description, input string // input is the JSON Schema of the arguments
	call                            func(ctx context.Context, s *Server, r *sdk.CallToolRequest) (text string, data any, err error)
}

var tools = []tool{inspectTool, measureTool, estimateTool, planTool, recallTool}

// outputs holds the JSON Schemas of what the tools return, made of the Go types and their comments:
// go test ./internal/rpc -run Schema -update
//
//go:embed outputs.json
var outputs []byte

// describe returns the description for clients.
func (t tool) describe() *sdk.Tool {
	var schemas map[string]stdjson.RawMessage
	if err := stdjson.Unmarshal(outputs, &schemas); err != nil {
		panic(err) // the file is embedded in the program
	}
	closed := false
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: stdjson.RawMessage(t.input), OutputSchema: schemas[t.name],
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}
}

// handler makes the SDK's handler of a tool. Every failure is an answer that the model can read, never an error of the protocol.
func (s *Server) handler(t tool) sdk.ToolHandler {
	return func(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("a tool panicked", "tool", t.name, "panic", p, "stack", string(debug.Stack()))
				result = failure(errInternal)
			}
		}()
		text, data, err := t.call(ctx, s, r)
		if ask, ok := errors.AsType[needsRoots](err); ok {
			return &sdk.CallToolResult{InputRequests: ask.requests()}, nil
		}
		if err != nil {
			if coded.CodeOf(err) == coded.Internal {
				s.log.Error("a tool failed", "tool", t.name, "error", err)
			}
			return failure(err), nil
		}
		raw, err := json.Marshal(data, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
		if err != nil {
			s.log.Error("a tool failed", "tool", t.name, "error", err)
			return failure(err), nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: stdjson.RawMessage(raw)}, nil
	}
}

// errInternal replaces a fault of ctxls, whose cause may contain SQL or paths.
var errInternal = coded.Errorf(coded.Internal, "internal error of ctxls; its log says more")

// failure is the answer of a tool that failed.
func failure(err error) *sdk.CallToolResult {
	told, ok := errors.AsType[*coded.Error](err)
	if !ok || told.Code == coded.Internal {
		told = errInternal
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text.Sanitize(told.Error(), maxError)}}}
}

// guard converts a panic anywhere else to an error of the protocol. It refuses subscriptions: nothing here changes, and they would wait
// forever.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("a handler panicked", "method", method, "panic", p, "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: errInternal.Message}
			}
		}()
		if method == "subscriptions/listen" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is nothing to subscribe to: the tools never change"}
		}
		return next(ctx, method, r)
	}
}
