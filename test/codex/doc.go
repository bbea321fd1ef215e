// Package codex tests ctxls with the real Codex. The pinned version runs in a network namespace with only a fake model,
// its own home, and a key without value. Every statement about the model's input comes from the requests that this fake
// received.
//
// It needs Linux, npm and tmux; `make e2e` runs it.
package codex
