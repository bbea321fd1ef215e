// Package push copies the figures of this machine to a team's database: what changed since the last time, each of it once.
//
// The machine's own store stays the truth. The other end keeps a cursor, which moves in the transaction that writes the rows, so either
// side may die at any moment. This package knows neither SQL nor a network.
package push

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Source is what is copied: the figures of this machine.
type Source interface {
	Changed(ctx context.Context, since int64) (core.ChangeSet, error)
	SamplesFrom(ctx context.Context, key session.Key, from int64) ([]core.NumberedSample, error)
	Tasks(ctx context.Context) ([]core.NumberedTask, fleet.TrimCount, error)
	Watch(ctx context.Context) <-chan struct{}
}

// Sink is where it is copied to. Errors that trying again cannot mend carry coded.Invalid.
type Sink interface {
	// Claim makes the caller the one that speaks for its machine, and returns how far the machine has been copied.
	Claim(ctx context.Context, c Claim) (Cursor, error)
	// Push takes batches in one transaction. ErrLostCursor says that nothing was taken, and that the caller must claim the machine again.
	Push(ctx context.Context, batches []Batch) error
}

// ErrLostCursor says that the other end is not where the sender believes it to be.
var ErrLostCursor = coded.Errorf(coded.Unavailable, "the database has lost the last changes that it took; they are sent again")

// maxPart is how many samples and tasks one batch holds. It bounds the memory of both sides.
const maxPart = 5000

// Pusher copies one machine. It is used by one goroutine.
type Pusher struct {
	Source  Source
	Sink    Sink
	Machine string // a UUID
	Claim   func() (known []string, next string, err error)
	Claimed func(claim string) error // remembers a claim that was granted
	Redact  Redaction
	Version string
	Schema  int
	// TakeOver claims the machine, even if another process sent for it last.
	TakeOver bool
	Now      func() time.Time

	claim   string // "" where there is none yet
	cursor  Cursor
	tasks   map[int64]int // tokens of the tasks in the ring that were sent, by number
	trims   fleet.TrimCount
	trimmed bool // trims were sent
	labels  map[string]label
}

// label is what a task inherits from its session.
type label struct {
	host           session.Host
	model, project string
}

// Push sends what has changed, and reports whether anything had. After an error nothing or all of it was taken; the next call finds out.
func (p *Pusher) Push(ctx context.Context) (bool, error) {
	if p.claim == "" {
		if err := p.take(ctx); err != nil {
			return false, err
		}
	}
	batches, after, err := p.collect(ctx)
	if err != nil || batches == nil {
		return false, err
	}
	if err := p.Sink.Push(ctx, batches); err != nil {
		p.Forget()
		return false, err
	}
	after()
	return true, nil
}

// Forget makes the next Push ask how far the machine has been copied.
func (p *Pusher) Forget() { p.claim = "" }

// take claims the machine.
func (p *Pusher) take(ctx context.Context) error {
	known, next, err := p.Claim()
	if err != nil {
		return err
	}
	cursor, err := p.Sink.Claim(ctx, Claim{Machine: p.Machine, Known: known, Next: next, TakeOver: p.TakeOver, Team: p.Redact.Team,
		Version: p.Version, Schema: p.Schema, Now: millis(p.Now())})
	if err != nil {
		return err
	}
	if cursor.Sessions == nil {
		cursor.Sessions = map[string]Sent{}
	}
	p.TakeOver = false
	p.cursor, p.tasks, p.trimmed = cursor, map[int64]int{}, false
	p.claim = next
	return p.Claimed(next)
}

// collect returns what is to be sent, nil where nothing has changed, and what to do once it was taken.
func (p *Pusher) collect(ctx context.Context) ([]Batch, func(), error) {
	news, err := p.Source.Changed(ctx, p.cursor.Revision)
	if err != nil {
		return nil, nil, err
	}
	tasks, trims, err := p.Source.Tasks(ctx)
	if err != nil {
		return nil, nil, err
	}
	b := &builder{machine: p.Machine, claim: p.claim, now: p.Now(), since: p.cursor.Revision}
	sent := maps.Clone(p.cursor.Sessions)
	if news.Whole {
		b.part().Whole = true
		clear(sent)
	}
	for _, key := range news.Removed {
		id := p.Redact.Session(key)
		delete(sent, id)
		b.part().Removed = append(b.part().Removed, id)
	}
	for i, view := range news.Views {
		if err := p.session(ctx, b, sent, news.Sessions[i].Session, view); err != nil {
			return nil, nil, err
		}
	}
	ring := make(map[int64]int, len(tasks))
	for _, task := range tasks {
		if before, known := p.tasks[task.Seq]; !known || before != task.Tokens {
			b.task(p.labeled(task))
		}
		ring[task.Seq] = task.Tokens
	}
	if !p.trimmed || trims != p.trims {
		b.part().Trims = &Trims{trims.Operations, trims.Tokens}
	}
	if news.Revision == p.cursor.Revision && b.empty() {
		return nil, nil, nil
	}
	b.part()
	b.parts[len(b.parts)-1].Revision = news.Revision
	return b.parts, func() {
		p.cursor = Cursor{news.Revision, sent}
		p.tasks, p.trims, p.trimmed = ring, trims, true
	}, nil
}

// session adds one session that has changed, with the samples that are missing at the other end.
func (p *Pusher) session(ctx context.Context, b *builder, sent map[string]Sent, stored session.Session, view core.SessionView) error {
	gone := view.State == core.StateIdle && p.Now().Sub(view.UpdatedAt) <= session.IdleAfter
	s := p.Redact.view(view, gone)
	before, known := sent[s.Session]
	if known && before.StartedAt != s.StartedAt { // another session of that id: the first was forgotten meanwhile
		b.part().Removed = append(b.part().Removed, s.Session)
		before = Sent{}
	}
	if p.labels == nil {
		p.labels = map[string]label{}
	}
	p.labels[session.TurnTaskPrefix(stored.Key())] = label{s.Host, s.Model, s.Project}
	samples, err := p.Source.SamplesFrom(ctx, stored.Key(), before.Seq)
	if err != nil {
		return err
	}
	s.Seq = before.Seq
	if len(samples) > 0 {
		s.Seq = samples[len(samples)-1].Seq + 1
	}
	sent[s.Session] = Sent{s.StartedAt, s.Seq}
	b.part().Sessions = append(b.part().Sessions, s)
	for _, sample := range samples {
		b.sample(Sample{s.Session, sample.Seq, millis(sample.At), sample.Tokens, sample.WindowTokens, sample.Kind})
	}
	return nil
}

// labeled returns a task as it is sent: without its id, which a caller may have made of anything.
func (p *Pusher) labeled(task core.NumberedTask) Task {
	var l label
	if i := strings.LastIndexByte(task.ID, '#'); i >= 0 {
		l = p.labels[task.ID[:i+1]]
	}
	return Task{task.Seq, millis(task.At), task.Tokens, l.host, l.model, l.project}
}
