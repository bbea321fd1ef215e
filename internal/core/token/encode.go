package token

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/ctxls/ctxls/internal/core/token/internal/vocab"
)

// run is one pass over one text.
type run struct {
	*Encoding
	*scratch
	text []byte // valid UTF-8
	n    int    // tokens so far
}

// count goes through the text block by block: one look at a block tells where its
// pieces begin. A piece that does not end in its block, or that a block cannot tell
// all about, goes the long way round, by pieceEnd; where that was so of the last
// pieces, the next few go that way, too. Nearly all pieces of nearly all texts lie in
// blocks, are words and came before.
func (e *Encoding) count(text []byte) int {
	r := run{Encoding: e, scratch: e.newScratch(len(text)), text: text}
	wait, pause := 0, 0
	for p := 0; p < len(r.text); {
		if wait == 0 {
			if n := r.block(p); n > 0 {
				p, pause = p+n, 0
				continue
			}
			wait, pause = pause, min(pause*2+1, 8)
		} else {
			wait--
		}
		end := r.pieceEnd(r.text, p)
		r.n += r.piece(p, end)
		p = end
	}
	e.free(r.scratch)
	return r.n
}

// block counts the pieces that surely end in the block that begins with a piece at
// p, and gives their length in bytes: 0 if there is none, or where a block would pay
// for one or two pieces only.
func (r *run) block(p int) int {
	rest := r.text[p:]
	if len(rest) < 16 {
		return 0
	}
	b, n := &r.rest, 64
	if len(rest) >= len(b) {
		b = (*block)(rest)
	} else {
		n = min(n, len(rest))
		clear(b[copy(b[:], rest):])
	}
	s, begin, count := r.scratch, 0, 0
	for starts := r.starts(b, n, s.vectors); starts != 0; starts &= starts - 1 {
		end := bits.TrailingZeros64(starts)
		if n := end - begin; n > maxWord {
			count += r.piece(p+begin, p+end)
		} else {
			at := begin & 63
			w := newWord(binary.LittleEndian.Uint64(b[at:at+8]), binary.LittleEndian.Uint64(b[at+8:at+16]), n)
			slot := &s.words[w.hash()>>((64-s.bits)&63)&(wordSlots-1)]
			if slot.lo != w.lo || slot.hi&(1<<wordCountShift-1) != w.hi {
				r.word(slot, w, p+begin, p+end)
			}
			count += int(slot.hi >> wordCountShift)
		}
		begin = end
	}
	r.n += count
	return begin
}

// masks keep the bytes of a word: masks[n] and masks[n+8] are those of the first
// and the second half of one of n bytes.
var masks = [32]uint64{
	8: 0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1,
	16: ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0),
}

// newWord is the word of the first n bytes of lo and hi, without a count.
func newWord(lo, hi uint64, n int) word {
	return word{lo & masks[(n+8)&31], hi&masks[n&31] | uint64(n)<<wordLenShift}
}

func (w word) hash() uint64 { return (w.lo ^ w.hi*hashMul>>3) * hashMul }

// word puts a word that the cache does not have in its slot. A word of characters of
// three bytes or more is cut first: its characters mostly came before, alone or in
// other words, and the word itself often never comes again.
func (r *run) word(slot *word, w word, p, end int) {
	count := r.first
	if end-p > 3 && r.text[end-3] >= 0xe0 {
		count = r.cut
	}
	w.hi |= uint64(count(p, end)) << wordCountShift
	*slot = w
}

// first is the number of tokens of a piece that the caches do not have.
func (r *run) first(p, end int) int {
	if r.table.Find(r.text, p, end).IsToken() {
		return 1
	}
	return r.merges.count(r.text[p:end:end])
}

// piece is the number of tokens of text[p:end], a piece or a part of one that stands
// alone.
func (r *run) piece(p, end int) int {
	n := end - p
	if n > maxPhrase {
		return r.cut(p, end)
	}
	if n > maxWord {
		hash := phraseHash(r.text[p:end:end])
		if tokens := r.phrases.get(hash, r.text[p:end:end]); tokens > 0 {
			return tokens
		}
		tokens := r.cut(p, end)
		r.phrases.put(hash, r.text[p:end:end], tokens)
		return tokens
	}
	var w word
	if p+16 <= len(r.text) {
		b := (*[16]byte)(r.text[p:])
		w = newWord(binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:]), n)
	} else {
		w = newWord(vocab.Load(r.text, p, 8), 0, n)
		if n > 8 {
			w = newWord(w.lo, vocab.Load(r.text, p+8, 8), n)
		}
	}
	slot := &r.words[w.hash()>>((64-r.scratch.bits)&63)&(wordSlots-1)]
	if slot.lo != w.lo || slot.hi&(1<<wordCountShift-1) != w.hi {
		r.word(slot, w, p, end)
	}
	return int(slot.hi >> wordCountShift)
}

// cut counts a long piece in parts, which end where no token reaches across. Within
// ASCII nearly every border is one that some token reaches across.
func (r *run) cut(p, end int) (total int) {
	from, q := p, p
	left, before, joins := rune(0), rune(0), true
	alone, tokens := false, 0 // the part before was one character, and its tokens
	for q < end {
		if left < utf8.RuneSelf && q+8 <= end && binary.LittleEndian.Uint64(r.text[q:])&highBits == 0 {
			q += 8
			left = rune(r.text[q-1])
			continue
		}
		right, n := decode(r.text, q)
		if left|right >= utf8.RuneSelf && q > p {
			run := left == before && right == left // of one character: asks once
			if !run {
				joins = r.table.MayJoin(left, right, r.text[q-1])
			}
			if !joins {
				if !run || !alone {
					tokens = r.piece(from, q)
					alone = q-from <= utf8.RuneLen(left)
				}
				total += tokens
				from = q
				if run && alone { // the next ones of the kind are so, too, but perhaps the last
					if next := repeatEnd(r.text[:end], q-n, q) - n; next > q {
						total += (next - q) / n * tokens
						from, q = next, next
					}
				}
			}
		}
		before, left = left, right
		q += n
	}
	if from == p {
		return r.first(p, end)
	}
	return total + r.piece(from, end)
}

// encode appends the ids of the text's tokens. It takes none of the short cuts
// that counting takes.
func (e *Encoding) encode(text []byte, ids []uint32) []uint32 {
	s := e.newScratch(len(text))
	for p := 0; p < len(text); {
		end := e.pieceEnd(text, p)
		if v := e.table.Find(text, p, end); v.IsToken() {
			ids = append(ids, v.ID())
		} else {
			ids = s.merges.encode(text[p:end:end], ids)
		}
		p = end
	}
	e.free(s)
	return ids
}
