// Package e2e has the common parts of the tests with real agent hosts: a network namespace with only loopback, the
// pinned program of the host, ctxls built from this tree, and a home and a project for each test. The host's package
// plays the model. Every statement about the model's input comes from the requests that the model received.
//
// It needs Linux and npm; `make e2e` runs the tests.
package e2e
