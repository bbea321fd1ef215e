package transport

import (
	"context"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
)

// The error codes of the protocol, in addition to those of package coded.
const (
	CodeParse          coded.Code = "parse"          // not JSON, or not a frame
	CodeInvalidRequest coded.Code = "invalidRequest" // JSON, but no request that may be made now
	CodeMethodNotFound coded.Code = "methodNotFound"
	CodeCancelled      coded.Code = "cancelled"
)

// Numbers maps the codes in data.code to the numbers of JSON-RPC. -32700 to -32600 come from
// https://www.jsonrpc.org/specification#error_object, and -32800 is LSP's RequestCancelled. The others are our own, from the range
// that the specification reserves for servers.
var Numbers = map[coded.Code]jsonrpc2.Code{
	CodeParse:          -32700,
	CodeInvalidRequest: -32600,
	CodeMethodNotFound: -32601,
	coded.Invalid:      -32602,
	coded.Internal:     -32603,
	CodeCancelled:      -32800,
	coded.NotFound:     -32004,
	coded.TooLarge:     -32013,
	coded.Unavailable:  -32011,
}

// WireError converts err to the error that the client gets: {code, message, data: {code}}. It shows only the message of a
// *coded.Error, sanitized, since the message may quote the request. Any other error, and one with coded.Internal, is "internal
// error", since its message may contain SQL or paths.
func WireError(err error) *jsonrpc2.Error {
	code, message := coded.Internal, "internal error"
	if e, ok := errors.AsType[*coded.Error](err); ok && e.Code != coded.Internal {
		code, message = e.Code, text.Sanitize(e.Error(), 0)
	} else if errors.Is(err, context.Canceled) {
		code, message = CodeCancelled, "request cancelled"
	}
	number, ok := Numbers[code]
	if !ok {
		code, number, message = coded.Internal, Numbers[coded.Internal], "internal error"
	}
	return &jsonrpc2.Error{Code: number, Message: message, Data: jsonrpc2.RawMessage(fmt.Sprintf(`{"code":%q}`, code))}
}
