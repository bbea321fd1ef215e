// Package e2e is what the tests with real agent hosts share: a network namespace with nothing but loopback, the pinned program of
// the host, ctxls built from this tree, and a home and a project of each test's own. The host's package plays the model: every
// statement about what reaches it is made of the requests that it received.
//
// It needs Linux and npm; `make e2e` runs the tests.
package e2e
