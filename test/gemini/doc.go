// Package gemini tests ctxls with the real Gemini CLI: the program from the npm registry that host/package-lock.json pins, in a
// network namespace of its own, against a model that the tests play. What is said about what reaches the model is shown by the
// requests that it received. It needs Linux, npm, Node and tmux; `make e2e` runs it.
package gemini
