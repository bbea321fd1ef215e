//go:build !amd64

package token

func setsAVX2(*block, *sets) {}

func validAVX2(*byte, int) bool { return false }

func processorHasAVX2() bool { return false }
