// Package qwen tests ctxls with the real Qwen Code: the program from the npm registry that host/package-lock.json pins, in a network
// namespace of its own, against a model that the tests play. What is said about what reaches the model is shown by the requests that
// it received. It needs Linux and npm, which also gets the Node that Qwen Code wants; `make e2e-qwen` runs it.
package qwen
