//go:build !race

package rpc

// underRace says that the race detector is on, which takes several times the memory and time.
const underRace = false
