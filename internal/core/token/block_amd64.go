package token

//go:noescape
func setsAVX2(b *block, s *sets)

// validAVX2 reports whether the n bytes at text, a positive multiple of 32, are the
// beginning of a valid text: their last character may go on after them.
//
//go:noescape
func validAVX2(text *byte, n int) bool

func processorHasAVX2() bool
