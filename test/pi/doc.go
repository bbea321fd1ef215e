// Package pi tests ctxls with the real pi: the program from the npm registry that host/package-lock.json pins, in a network namespace of
// its own, against a model that the tests play. What is said about what reaches the model is shown by the requests that it received. It
// needs Linux, npm and Node; `make e2e-pi` runs it.
package pi
