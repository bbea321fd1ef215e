// Package opencode tests ctxls with the real OpenCode: the pinned version of the program, in a network namespace in which there
// is nothing but a model that this package plays, with a home of its own and a key that opens nothing. Every statement about
// what reaches the model is made of the requests that this model received, and every one about the host of what its own API
// answers.
//
// The lock file names the programs for other systems without their hashes: npm wants them named, and installs the one that
// fits. It needs Linux, npm and node; `make e2e` runs it.
package opencode
