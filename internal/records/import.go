package records

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Imported is the result of an import.
type Imported struct {
	Sessions int `json:"sessions"` // that were read
	Turns    int `json:"turns"`    // that they hold
	Tasks    int `json:"tasks"`    // that fit into the ring of tasks
	Failed   int `json:"failed"`   // sessions that could not be read
}

// Import reads the sessions of records that changed since, and fills the ring of tasks with their turns. It learns from the newest how
// their models count. It replaces what was imported before, so a second import changes nothing. Tasks that hooks recorded stay. Without hosts, it reads all hosts. progress is called with
// the number of bytes read and of all bytes.
func (s *Store) Import(ctx context.Context, hosts []session.Host, since time.Time, windowTasks int, progress func(done, total int64)) (Imported, error) {
	records := slices.DeleteFunc(s.find(ctx, "", since), func(r found) bool { return len(hosts) > 0 && !slices.Contains(hosts, r.Host) })
	var total, done int64
	for _, r := range records {
		total += r.Size
	}
	var (
		mu     sync.Mutex
		result Imported
		tasks  []core.ImportedTask
		wait   sync.WaitGroup
		next   = make(chan found)
	)
	for range runtime.NumCPU() {
		wait.Go(func() {
			for r := range next {
				turns, err := r.by.Turns(ctx, r.Record)
				mu.Lock()
				if err != nil {
					result.Failed++
				} else {
					result.Sessions++
				}
				result.Turns += len(turns)
				for _, turn := range turns {
					tasks = append(tasks, core.ImportedTask{Key: r.Key, Tokens: turn.Tokens, At: turn.At})
				}
				done += r.Size
				progress(done, total)
				mu.Unlock()
			}
		})
	}
	for _, r := range records {
		if ctx.Err() != nil {
			break
		}
		next <- r
	}
	close(next)
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return result, err
	}
	var err error
	if result.Tasks, err = s.Store.ImportTasks(ctx, tasks, windowTasks); err != nil {
		return result, err
	}
	return result, s.learn(ctx, records)
}

// maxTaught is the number of records from which an import learns how models count: the newest. More would cost more than they teach.
const maxTaught = 20

// learn stores what the newest records teach about the way in which their models count, for models of which nothing is known yet.
func (s *Store) learn(ctx context.Context, records []found) error {
	records, err := s.withoutTaken(ctx, records[:min(len(records), maxTaught)])
	if err != nil {
		return err
	}
	taught := map[string]session.Calibration{}
	for _, r := range slices.Backward(records) { // oldest first, as hooks would
		events, err := s.events(ctx, r, true)
		if err != nil {
			continue
		}
		st, _ := s.reduce(r, events, session.Calibration{})
		plain := model.Plain(st.Session.Model)
		known, ok := taught[plain]
		if !ok {
			stored, err := s.Store.Load(ctx, core.Query{Key: r.Key, Model: plain, Calibration: session.Encoding})
			if err != nil {
				return err
			}
			known = stored.Calibration
		}
		if plain == "" || !ok && !known.IsEmpty() {
			continue // hooks have taught it
		}
		st, _ = s.reduce(r, events, known)
		taught[plain] = st.Calibration
	}
	for _, c := range taught {
		if c.IsEmpty() {
			continue
		}
		c.Imported = true
		err := s.Store.Update(ctx, core.Query{}, func(session.State) session.Changes { return session.Changes{Calibration: &c} })
		if err != nil {
			return err
		}
	}
	return nil
}

// ForgetImported removes the imported tasks and what an import learned of models.
func (s *Store) ForgetImported(ctx context.Context, windowTasks int) error {
	_, err := s.Store.ImportTasks(ctx, nil, windowTasks)
	return err
}
