// Package codex tests ctxls with the real Codex: the pinned version of the program, in a network namespace in which there is
// nothing but a model that this package plays, with a home of its own and a key that opens nothing. Every statement about what
// reaches the model is made of the requests that this model received.
//
// It needs Linux, npm and tmux; `make e2e` runs it.
package codex
