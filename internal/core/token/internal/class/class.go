// Package class sorts characters into the few classes that the patterns of the
// encodings speak of, in the version of Unicode that tiktoken's regular expressions
// use.
package class

import _ "embed"

// Class is a set of bits, so that one test asks for several classes.
type Class uint8

// The classes. Every character has exactly one, save that a newline is also a space.
const (
	Other       Class = 0         // punctuation, symbols, controls, unassigned
	Upper       Class = 1 << iota // \p{Lu}, \p{Lt}
	Lower                         // \p{Ll}
	OtherLetter                   // \p{Lm}, \p{Lo}
	Mark                          // \p{M}
	Number                        // \p{N}
	Space                         // \s
	Newline                       // \r, \n

	Letter = Upper | Lower | OtherLetter // \p{L}
)

// The table has a row number for each block of characters, then the rows.
const (
	BlockSize = 256
	Blocks    = 0x110000 / BlockSize
)

//go:embed classes.bin
var table string

// Of is the class of a character from 0 to U+10FFFF.
func Of(r rune) Class {
	row := int(table[uint32(r)/BlockSize])
	return Class(table[Blocks+row*BlockSize+int(uint32(r)%BlockSize)])
}
