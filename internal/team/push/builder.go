package push

import (
	"slices"
	"time"
)

// builder cuts what is to be sent into parts that are not too large.
type builder struct {
	machine, claim string
	now            time.Time
	since          int64
	parts          []Batch
	rows           int // samples and tasks in the last part
}

// part returns the last part, and begins the first.
func (b *builder) part() *Batch {
	if len(b.parts) == 0 {
		b.begin()
	}
	return &b.parts[len(b.parts)-1]
}

func (b *builder) begin() {
	b.rows = 0
	b.parts = append(b.parts, Batch{Machine: b.machine, Claim: b.claim, Now: millis(b.now), Since: b.since})
}

func (b *builder) sample(s Sample) {
	part := b.row(s.At)
	part.Samples = append(part.Samples, s)
}

func (b *builder) task(t Task) {
	part := b.row(t.At)
	part.Tasks = append(part.Tasks, t)
}

// row returns the part that takes one more row, of some instant.
func (b *builder) row(at int64) *Batch {
	part := b.part()
	if b.rows == maxPart {
		b.begin()
		part = b.part()
	}
	b.rows++
	if day := time.UnixMilli(at).UTC().Format("20060102"); !slices.Contains(part.Days, day) {
		part.Days = append(part.Days, day)
	}
	return part
}

// empty reports whether there is nothing to send.
func (b *builder) empty() bool { return len(b.parts) == 0 }
