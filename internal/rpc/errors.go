package rpc

import (
	"context"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"

	"github.com/ctxls/ctxls/internal/core"
)

// The codes that only the protocol knows, beside those of package core.
const (
	codeParse          core.Code = "parse"          // not JSON, or not a frame
	codeInvalidRequest core.Code = "invalidRequest" // JSON, but no request that may be made now
	codeMethodNotFound core.Code = "methodNotFound"
	codeCancelled      core.Code = "cancelled"
)

// numbers is the one table between the codes that programs read in data.code and the numbers of JSON-RPC.
// -32700 to -32600 are those of https://www.jsonrpc.org/specification#error_object, -32800 is LSP's RequestCancelled, and
// the others are of our choosing from the range that the specification leaves to servers.
var numbers = map[core.Code]jsonrpc2.Code{
	codeParse:            -32700,
	codeInvalidRequest:   -32600,
	codeMethodNotFound:   -32601,
	core.CodeInvalid:     -32602,
	core.CodeInternal:    -32603,
	codeCancelled:        -32800,
	core.CodeNotFound:    -32004,
	core.CodeTooLarge:    -32013,
	core.CodeUnavailable: -32011,
}

// The library answers a batch member that it cannot read with this variable, so it is made to speak like the rest.
func init() {
	*jsonrpc2.ErrInvalidRequest = *wireError(core.Errorf(codeInvalidRequest,
		`expected a request: {"jsonrpc": "2.0", "method": string, "id": string or integer, "params": object}`))
}

// wireError turns err into what the client sees: {code, message, data: {code}}. Only the message of a *core.Error is
// shown, and without a character that would do anything where it is shown, since it may quote what was sent; any other error, and
// one with core.CodeInternal, says "internal error" and no more, since it may hold SQL or paths.
func wireError(err error) *jsonrpc2.Error {
	code, message := core.CodeInternal, "internal error"
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code != core.CodeInternal {
		code, message = e.Code, core.Sanitize(e.Message, 0)
	} else if errors.Is(err, context.Canceled) {
		code, message = codeCancelled, "request cancelled"
	}
	number, ok := numbers[code]
	if !ok {
		code, number, message = core.CodeInternal, numbers[core.CodeInternal], "internal error"
	}
	return &jsonrpc2.Error{Code: number, Message: message, Data: jsonrpc2.RawMessage(fmt.Sprintf(`{"code":%q}`, code))}
}
