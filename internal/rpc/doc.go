// Package rpc is the JSON-RPC door of ctxls: a server that reads requests from one client and answers them, over LSP
// headers or one JSON value a line.
//
// It stands on go.lsp.dev/jsonrpc2 and guards it on both sides. A [stream] of our own lies below the library: it bounds
// what it reads, answers what is not a request by itself, and lets only well-formed requests through, because the library
// ends the connection on the first that is not. One handler of our own lies above it (see dispatch.go): cancellation,
// order, bounded concurrency, panics and error codes are settled there once, so that the functions behind the method
// table are plain Go: func(ctx, *Params) (*Result, error).
//
// The package knows no store, no host and no command line; it gets those as interfaces of package core.
package rpc
