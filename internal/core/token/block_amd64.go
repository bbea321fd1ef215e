package token

//go:noescape
func setsAVX2(b *block, s *sets)

func processorHasAVX2() bool
