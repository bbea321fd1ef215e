//go:build !amd64

package token

func setsAVX2(*block, *sets) {}

func processorHasAVX2() bool { return false }
