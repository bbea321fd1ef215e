package conversation

import (
	"hash/maphash"
	"sync"
	"unsafe"
)

// cacheBytes bounds the memory of a Meter's cache. A message takes a few hundred bytes of it, whatever its length, so 8 MiB hold about
// 30,000 messages: the longest conversations of several sessions.
const cacheBytes = 8 << 20

// countCache caches what measuring found out about a message, under the hash of its bytes, so that a longer conversation costs only its
// new part. It has two generations: when the young one is full, it becomes the old one, and unused entries of the old one are dropped.
// The zero value is ready for concurrent use.
type countCache struct {
	mu         sync.Mutex
	young, old map[cacheKey]*digest
	size       int // of young, in bytes
}

// cacheKey is the content and everything else that a count depends on.
type cacheKey struct {
	content [2]uint64
	kind    kind
	rules   countingRules
}

// kind is the kind of the bytes: tool definitions and a system prompt with the same bytes have different counts.
type kind byte

const (
	kindMessage kind = iota
	kindSystem
	kindTools
)

// contentSeeds makes the hash different in each process, so that no client can prepare two messages that collide. 128 bits exclude an
// accident.
var contentSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func keyOf(kind kind, rules countingRules, content []byte) cacheKey {
	return cacheKey{
		content: [2]uint64{maphash.Bytes(contentSeeds[0], content), maphash.Bytes(contentSeeds[1], content)},
		kind:    kind,
		rules:   rules,
	}
}

func (c *countCache) get(key cacheKey) *digest {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.young[key]; g != nil {
		return g
	}
	g := c.old[key]
	if g != nil {
		c.add(key, g)
	}
	return g
}

func (c *countCache) put(key cacheKey, g *digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, g)
}

func (c *countCache) add(key cacheKey, g *digest) {
	size := g.size()
	if size > cacheBytes/2 || c.young[key] != nil {
		return
	}
	if c.size+size > cacheBytes/2 {
		c.young, c.old, c.size = nil, c.young, 0
	}
	if c.young == nil {
		c.young = map[cacheKey]*digest{}
	}
	c.young[key] = g
	c.size += size
}

// size estimates the cache's memory for a digest, in bytes: the digest, its references, and its place in a map that may be half empty.
func (g *digest) size() int {
	size := int(unsafe.Sizeof(*g)) + 2*int(unsafe.Sizeof(cacheKey{})+unsafe.Sizeof(g)) + len(g.role)
	for _, refs := range [][]ref{g.calls, g.answers} {
		for _, r := range refs {
			size += int(unsafe.Sizeof(r)) + len(r.id) + len(r.name)
		}
	}
	for _, s := range g.spots {
		size += len(s.call.id) + len(s.call.name)
	}
	return size + len(g.bodies)*int(unsafe.Sizeof(body{})) + len(g.spots)*int(unsafe.Sizeof(spot{}))
}
