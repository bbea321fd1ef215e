package token

import (
	"encoding/binary"
	"math/bits"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// run is one pass over one text.
type run struct {
	*Encoding
	text    []byte // valid UTF-8
	wantIDs bool
	ids     []uint32 // so far, if wanted
	n       int      // tokens so far
	scratch *scratch // nil until a piece is no token
}

// encode goes through the text piece by piece. Nearly all pieces of nearly all
// texts are ASCII, at most eight bytes long, and a token as they stand. Such a
// piece is read as one integer, its end found by arithmetic on all eight bytes at
// once, and that integer looked up. Everything else goes the long way round, by
// pieceEnd.
func (r *run) encode() {
	b, table, camel, openers := r.text, &r.table, r.camelCase, r.openers
	p := 0
	for p+8 <= len(b) {
		word := binary.LittleEndian.Uint64(b[p:])
		stop := nonLetters(word)
		opener := stop & 0x80 // not 0 if the first byte is no letter
		var n int             // the length of the piece; 0 if it takes pieceEnd to tell
		if opener == 0 || stop&0x8000 == 0 && kinds[byte(word)] <= openers {
			if camel {
				stop = camelStop(word, stop, opener)
			} else {
				stop ^= opener
			}
			if stop != 0 {
				n = bits.TrailingZeros64(stop) >> 3
				if next := byte(word >> (8 * uint(n))); next >= 0x80 || next == '\'' && camel {
					n = 0
				}
			} else if n = r.longWord(p, word, opener); n > 8 {
				r.piece(p, p+n)
				p += n
				continue
			}
		} else {
			n = r.noWord(word)
		}
		if n == 0 {
			end := r.pieceEnd(b, p)
			r.piece(p, end)
			p = end
			continue
		}
		slot, ok := table.Short(word & vocab.Mask(n))
		if ok && (n < 8 || table.ShortValue(slot).IsToken()) {
			r.n++
			if r.wantIDs {
				r.ids = append(r.ids, table.ShortValue(slot).ID())
			}
		} else {
			r.merge(p, p+n)
		}
		p += n
	}
	for p < len(b) {
		end := r.pieceEnd(b, p)
		r.piece(p, end)
		p = end
	}
	r.free()
}

// piece encodes the piece text[p:end].
func (r *run) piece(p, end int) {
	v := r.table.Find(r.text, p, end)
	if !v.IsToken() {
		r.merge(p, end)
		return
	}
	r.n++
	if r.wantIDs {
		r.ids = append(r.ids, v.ID())
	}
}
