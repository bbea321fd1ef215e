// Package token counts and encodes text in the byte-pair encodings cl100k_base
// and o200k_base exactly as tiktoken-go does, without its cost: no regular
// expression engine, no tables to parse when a program starts.
//
// It knows nothing of chats, roles or models' windows. Text that looks like a
// special token (<|endoftext|>) is ordinary text. Bytes that are not UTF-8 count
// as U+FFFD, one for each byte.
package token

import (
	_ "embed"
	"fmt"
	"sync"
	"unsafe"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

//go:generate go run ./internal/gen

// Names of the encodings, as OpenAI publishes them.
const (
	Cl100k = "cl100k_base" // GPT-3.5, GPT-4
	O200k  = "o200k_base"  // GPT-4o and later
)

// Counter counts the tokens of a text. Implementations are safe for concurrent use.
type Counter interface {
	Count(text string) int
}

// Encoding is one byte-pair encoding. It is safe for concurrent use. Between calls
// it keeps up to 1 MB of scratch memory for each call that ran at once, with the
// counts of words seen lately.
type Encoding struct {
	name      string
	table     vocab.Table
	camelCase bool // o200k_base: a word ends where lower case turns to upper
	scratches sync.Pool
}

//go:embed cl100k_base.bin
var cl100kBlob string

//go:embed o200k_base.bin
var o200kBlob string

var (
	cl100k = &Encoding{name: Cl100k, table: vocab.Open(cl100kBlob)}
	o200k  = &Encoding{name: O200k, table: vocab.Open(o200kBlob), camelCase: true}
)

// Get gives the encoding of a name. It costs nothing: there is no state to load.
func Get(name string) (*Encoding, error) {
	switch name {
	case Cl100k:
		return cl100k, nil
	case O200k:
		return o200k, nil
	}
	return nil, fmt.Errorf("unknown encoding %q: %s and %s are supported", name, Cl100k, O200k)
}

// Name is the encoding's name, one that Get knows.
func (e *Encoding) Name() string { return e.name }

// Count is the number of tokens in text. Its time is linear in the length of the
// text, whatever the text.
func (e *Encoding) Count(text string) int {
	// The bytes are only read.
	return e.CountBytes(unsafe.Slice(unsafe.StringData(text), len(text)))
}

// CountBytes is Count of text that is at hand as bytes; it does not keep them.
func (e *Encoding) CountBytes(text []byte) int {
	return e.count(wellFormed(text))
}

// Encode gives the ids of the tokens in text.
func (e *Encoding) Encode(text string) []uint32 {
	b := wellFormed(unsafe.Slice(unsafe.StringData(text), len(text)))
	return e.encode(b, make([]uint32, 0, len(b)/4+1))
}
