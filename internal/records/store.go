// Package records adds the sessions that hosts keep on the disk to those that hooks reported.
//
// Its Store is a layer on the state that all processes share. It answers questions about sessions from both, and saves only to the
// state. A session that is in the state, or was deleted from it, is never taken from a record, since hooks know more.
package records

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
)

// Options choose the records that a Store shows.
type Options struct {
	Recorders []core.Recorder
	Rules     func(session.Host) session.Rules
	// Prepare counts the content of an event, as for the events of hooks.
	Prepare func(*session.Event)
	Config  func(cwd string) settings.Config
	Now     func() time.Time
	// Brief leaves out the working sets of sessions from records.
	Brief bool
	// Budget bounds the time in which one list may read records that are not in memory; the newest come first. 0 is no bound.
	Budget time.Duration
}

// Store is a core.Store that also shows the sessions of records. It is safe for concurrent use.
type Store struct {
	core.Store // the state
	o          Options

	mu    sync.Mutex
	known map[string]*reading // by path and session
	named []found             // files that the user named, in any directory

	index     index
	following following
}

// reading is the last reading of one record.
type reading struct {
	mu       sync.Mutex
	record   core.Record
	read     bool
	snapshot session.Snapshot
	samples  []session.Sample
	err      error
}

// Over returns a Store that shows records in addition to the state.
func Over(state core.Store, o Options) *Store {
	return &Store{Store: state, o: o, known: map[string]*reading{}, following: following{
		sessions: map[session.Key]followed{}, removed: map[session.Key]int64{}, told: map[int64]revisions{},
	}}
}

// Sessions implements core.Store.
func (s *Store) Sessions(ctx context.Context, f core.SessionFilter) ([]session.Snapshot, error) {
	stored, err := s.Store.Sessions(ctx, f)
	if err != nil {
		return nil, err
	}
	recorded, err := s.newest(ctx, f)
	if err != nil {
		return nil, err
	}
	all := append(stored, recorded...)
	slices.SortStableFunc(all, func(a, b session.Snapshot) int { return b.Session.UpdatedAt.Compare(a.Session.UpdatedAt) })
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	return all, nil
}

// chunk is the number of records that are read between two checks of the budget.
const chunk = 64

// newest returns the sessions of the newest records that match f, the newest first.
func (s *Store) newest(ctx context.Context, f core.SessionFilter) (snaps []session.Snapshot, err error) {
	records := s.find(ctx, f.Host, f.Since)
	began := time.Now()
	for len(records) > 0 && (f.Limit == 0 || len(snaps) < f.Limit) && (s.o.Budget == 0 || time.Since(began) < s.o.Budget) {
		n := chunk
		if f.Limit > 0 {
			n = min(n, max(f.Limit-len(snaps), 2*runtime.NumCPU()))
		}
		next := records[:min(n, len(records))]
		records = records[len(next):]
		if next, err = s.withoutTaken(ctx, next); err != nil {
			return nil, err
		}
		for _, snap := range sessionsOf(s.readAll(ctx, next)) {
			if f.Matches(snap.Session) {
				snaps = append(snaps, snap)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return snaps, nil
}

// withoutTaken drops the records of sessions that are in the state or were deleted from it.
func (s *Store) withoutTaken(ctx context.Context, records []found) ([]found, error) {
	keys := make([]session.Key, len(records))
	for i, r := range records {
		keys[i] = r.Key
	}
	taken, err := s.Store.Taken(ctx, keys)
	return slices.DeleteFunc(slices.Clone(records), func(r found) bool { return taken[r.Key] }), err
}

// FindSessions implements core.Store.
func (s *Store) FindSessions(ctx context.Context, id string) ([]session.Session, error) {
	stored, err := s.Store.FindSessions(ctx, id)
	if err != nil {
		return nil, err
	}
	named := slices.DeleteFunc(s.find(ctx, "", time.Time{}), func(r found) bool { return r.SessionID != id })
	if named, err = s.withoutTaken(ctx, named); err != nil {
		return nil, err
	}
	for _, snap := range sessionsOf(s.readAll(ctx, named)) {
		stored = append(stored, snap.Session)
	}
	return stored, nil
}

// Name adds the record in the file at path, in any directory, and returns its session; false if it is no record.
func (s *Store) Name(path string) (session.Key, bool) {
	for _, by := range s.o.Recorders {
		if r, ok := by.Recognize(path); ok {
			s.mu.Lock()
			s.named = append(s.named, found{r, by})
			s.mu.Unlock()
			return r.Key, true
		}
	}
	return session.Key{}, false
}

// File returns the session of the record in the file at path; false if it is no record.
func (s *Store) File(ctx context.Context, path string) (snap session.Snapshot, ok bool, err error) {
	for _, by := range s.o.Recorders {
		if r, ok := by.Recognize(path); ok {
			snap, _, err := s.read(ctx, found{r, by})
			return snap, true, err
		}
	}
	return snap, false, nil
}

// Load implements core.Store.
func (s *Store) Load(ctx context.Context, q core.Query) (session.State, error) {
	st, err := s.Store.Load(ctx, q)
	if err != nil || st.Known || q.Key == (session.Key{}) {
		return st, err
	}
	snap, _, err := s.recorded(ctx, q.Key)
	if err != nil { // it has no record either
		return st, nil
	}
	// The model is only known now, so what was learned about it is loaded now.
	q.Model, q.Provider = cmp.Or(q.Model, snap.Session.Model), cmp.Or(q.Provider, snap.Session.Provider)
	if st, err = s.Store.Load(ctx, q); err != nil {
		return st, err
	}
	st.Known, st.Snapshot = true, snap
	return st, nil
}

// Session implements core.Store.
func (s *Store) Session(ctx context.Context, key session.Key) (session.Snapshot, error) {
	snap, err := s.Store.Session(ctx, key)
	if coded.CodeOf(err) != coded.NotFound {
		return snap, err
	}
	recorded, _, recErr := s.recorded(ctx, key)
	if recErr != nil {
		return snap, err
	}
	return recorded, nil
}

// Samples implements core.Store.
func (s *Store) Samples(ctx context.Context, key session.Key, limit int) ([]session.Sample, error) {
	samples, err := s.Store.Samples(ctx, key, limit)
	if err != nil || len(samples) > 0 {
		return samples, err
	}
	_, recorded, err := s.recorded(ctx, key)
	if err != nil { // it has no record either
		return samples, nil
	}
	if limit > 0 {
		recorded = recorded[max(0, len(recorded)-limit):]
	}
	return recorded, nil
}

// errNoRecord says that a session has no record, or that its record is not shown.
var errNoRecord = coded.Errorf(coded.NotFound, "no record")

// recorded returns the session of a key from its record.
func (s *Store) recorded(ctx context.Context, key session.Key) (session.Snapshot, []session.Sample, error) {
	named := slices.DeleteFunc(s.find(ctx, key.Host, time.Time{}), func(r found) bool { return r.Key != key })
	named, err := s.withoutTaken(ctx, named)
	if err != nil {
		return session.Snapshot{}, nil, err
	}
	if len(named) == 0 {
		return session.Snapshot{}, nil, errNoRecord
	}
	return s.read(ctx, named[0])
}

// found is a record with its recorder.
type found struct {
	core.Record
	by core.Recorder
}

// find returns the records of a host, or of all hosts, that changed since, newest first. Of two records of one session, the newer
// counts. A host whose records cannot be read has none.
func (s *Store) find(ctx context.Context, host session.Host, since time.Time) []found {
	s.mu.Lock()
	all := slices.DeleteFunc(slices.Clone(s.named), func(r found) bool { return host != "" && r.Host != host || r.ModTime.Before(since) })
	s.mu.Unlock()
	named := make(map[session.Key]bool, len(all))
	for _, r := range all {
		named[r.Key] = true
	}
	for _, by := range s.o.Recorders {
		if host != "" && by.Host() != host {
			continue
		}
		records := s.index.find(ctx, by, since)
		all = slices.Grow(all, len(records))
		for _, r := range records {
			if len(named) == 0 || !named[r.Key] {
				all = append(all, found{r, by})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.ModTime.Compare(a.ModTime) })
	return all
}

// readAll reads records concurrently, one for each processor, and returns their sessions in the order of the records.
func (s *Store) readAll(ctx context.Context, records []found) []session.Snapshot {
	snaps := make([]session.Snapshot, len(records))
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(runtime.NumCPU(), len(records)) {
		wait.Go(func() {
			for i := range next {
				snaps[i], _, _ = s.read(ctx, records[i])
			}
		})
	}
	for i := range records {
		next <- i
	}
	close(next)
	wait.Wait()
	return snaps
}

// read returns the session of a record. It reads only records that have changed.
func (s *Store) read(ctx context.Context, r found) (session.Snapshot, []session.Sample, error) {
	name := r.Path + "\x00" + r.SessionID
	s.mu.Lock()
	known := s.known[name]
	if known == nil {
		known = &reading{}
		s.known[name] = known
	}
	s.mu.Unlock()
	known.mu.Lock()
	defer known.mu.Unlock()
	if !known.read || known.record != r.Record {
		known.snapshot, known.samples, known.err = s.replay(ctx, r)
		known.record, known.read = r.Record, ctx.Err() == nil
	}
	return known.snapshot, known.samples, known.err
}

// replay reduces the content of a record as if hooks had reported it.
func (s *Store) replay(ctx context.Context, r found) (snap session.Snapshot, samples []session.Sample, err error) {
	events, err := s.events(ctx, r, s.o.Brief)
	if err != nil {
		return snap, nil, err
	}
	st, samples := s.reduce(r, events, session.Calibration{})
	return st.Snapshot, samples, nil
}

// events returns the events of a record with their content counted.
func (s *Store) events(ctx context.Context, r found, brief bool) ([]session.Event, error) {
	events, err := r.by.Read(ctx, r.Record, brief)
	for i := range events {
		events[i].Guarded = true
		s.o.Prepare(&events[i])
	}
	return events, err
}

// reduce reduces the events of a record. The state has the calibration with what they taught.
func (s *Store) reduce(r found, events []session.Event, learned session.Calibration) (st session.State, samples []session.Sample) {
	st = session.State{Rules: s.o.Rules(r.Host), Calibration: learned}
	for _, ev := range events {
		at := ev.At
		if at.IsZero() || at.After(s.o.Now()) {
			at = s.o.Now()
		}
		changes, _ := session.Reduce(st, ev, s.o.Config(ev.CWD), at)
		if changes.Session == nil {
			continue
		}
		st.Known, st.Session = true, *changes.Session
		st.WorkingSet = mergePaths(st.WorkingSet, changes.Paths)
		samples = append(samples, changes.Samples...)
		if changes.Calibration != nil {
			st.Calibration = *changes.Calibration
		}
	}
	st.Session.UpdatedAt, st.Session.Recorded = r.ModTime, true
	return st, samples
}

// mergePaths adds uses to a working set, the most recently used first. Of two uses of one path, it keeps the heavier use and the later
// time.
func mergePaths(set, added []session.PathUse) []session.PathUse {
	byPath := make(map[string]session.PathUse, len(set)+len(added))
	for _, use := range slices.Concat(set, added) {
		if before, ok := byPath[use.Path]; ok {
			use.Use = max(use.Use, before.Use)
			if use.At.Before(before.At) {
				use.At = before.At
			}
		}
		byPath[use.Path] = use
	}
	merged := make([]session.PathUse, 0, len(byPath))
	for _, use := range byPath {
		merged = append(merged, use)
	}
	slices.SortFunc(merged, func(a, b session.PathUse) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Use, a.Use), cmp.Compare(a.Path, b.Path))
	})
	return merged[:min(len(merged), session.MaxWorkingSet)]
}
