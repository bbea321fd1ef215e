// Package rpc is the JSON-RPC server of ctxls. It reads requests from one client and answers them, with LSP headers or one JSON value
// per line.
//
// It uses go.lsp.dev/jsonrpc2. Below the library is a [transport.Stream], which passes only well-formed requests, because the library
// ends the connection on an invalid one. Above it is one handler (dispatch.go) for cancellation, order, bounded concurrency, panics and
// error codes. So each method is a plain function: func(ctx, *Params) (*Result, error).
//
// The package knows no store, no host and no command line; it gets them as interfaces of package core.
package rpc
