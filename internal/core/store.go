package core

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Store keeps the state that every ctxls process shares. All methods are safe for many goroutines, and any number of
// processes may have the same store open. Errors of the store itself carry CodeUnavailable or CodeInternal.
type Store interface {
	// Update loads what q asks for, calls decide with it, and saves the changes that decide returns, all in one transaction
	// that no other writer can come between. decide may be called once only, must not call the store, and should be quick:
	// every other process waits. When Update returns nil, the changes outlive a crash of the process.
	Update(ctx context.Context, q Query, decide func(session.State) session.Changes) error
	// Load returns what q asks for, as of one moment. It waits for no writer.
	Load(ctx context.Context, q Query) (session.State, error)
	// Session returns one session with its working set, or an error with CodeNotFound.
	Session(ctx context.Context, key session.Key) (session.Snapshot, error)
	// FindSessions returns the sessions with an id, one for each host that has it. None is not an error.
	FindSessions(ctx context.Context, id string) ([]session.Session, error)
	// Sessions returns the sessions that match f, the most recently updated first.
	Sessions(ctx context.Context, f SessionFilter) ([]session.Snapshot, error)
	// Taken returns which of the given sessions are stored, or were forgotten and must not come back from a record.
	Taken(ctx context.Context, keys []session.Key) (map[session.Key]bool, error)
	// Samples returns the newest samples of a session, oldest first; all of them when limit is 0. Some thousands are kept: the
	// older, the fewer, but every compaction.
	Samples(ctx context.Context, key session.Key, limit int) ([]session.Sample, error)
	// Changed returns what has changed since a revision, which an earlier Feed told; 0 is before everything. Who is woken
	// by Watch learns here what it was, whichever process made it.
	Changed(ctx context.Context, since int64) (Feed, error)
	// Fleet returns what the figures across all sessions are made of.
	Fleet(ctx context.Context, windowTasks int) (fleet.Fleet, error)
	// ImportTasks replaces the tasks that were imported before by those of sessions of which the ring holds no task. They take
	// the room in the ring that recorded tasks leave: the newest come in, below all that is recorded. It returns how many.
	ImportTasks(ctx context.Context, tasks []ImportedTask, windowTasks int) (kept int, err error)
	// Claim stores the value of a trigger of an alert, and reports whether it rose: of all processes that see one rise, one is told.
	Claim(ctx context.Context, c Claim) (rose bool, err error)
	// Windows returns every learned window.
	Windows(ctx context.Context) ([]session.LearnedWindow, error)
	// Watch wakes whoever may want to ask Changed. The channel receives within a fraction of a second of a change that any
	// process commits after the call, once for changes that are not yet received, and now and then without one. Watching ends
	// with ctx; the channel is never closed.
	Watch(ctx context.Context) <-chan struct{}
	Close() error
}

// Query says what Update and Load read. They read nothing else.
type Query struct {
	Key session.Key // the session; the zero Key loads none
	// Provider and Model choose the learned window; "" stands for those of the stored session.
	Provider, Model string
	WorkingSet      bool // load Snapshot.WorkingSet
	// Calibration asks for what is known of how the model counts in this encoding; "" loads none.
	Calibration string
	// Task names the task that may be recorded, given the stored session: load the ring's sums with it in mind. Nil, and ""
	// from it, load none.
	Task          func(session.Session) string
	TaskThreshold int // tokens above which a task counts as exceeding
	WindowTasks   int // the length of the ring
}

// Feed is what has changed in the store since a revision. Every save of a session, of its paths or its samples, and every
// removal of one has a revision of its own, greater than all before it.
type Feed struct {
	Revision int64              // the newest, to ask with the next time
	Sessions []session.Snapshot // saved since, as they are now, in the order of their last saving
	Removed  []session.Key      // removed since and not saved again, in the order of their removal; not told when Whole
	// Whole says that Sessions are all there are, and that others which the watcher may know of are gone: since was 0, was a
	// revision of a store that this one has replaced, or was so long ago that the store has forgotten what was removed.
	Whole bool
	Alert fleet.AlertGate // as it is now
}

// SessionFilter selects sessions. The zero value selects those that have not ended.
type SessionFilter struct {
	Host         session.Host
	Folders      []string  // sessions whose working directory is one of these or below one; none selects everywhere
	Project      string    // sessions whose working directory has this name; "" selects all
	Since        time.Time // sessions that changed at or after this time; zero selects all
	IncludeEnded bool
	Limit        int // 0 is no limit
}

// Matches reports whether a session is selected by what a store does not look up in an index: its directory and its age.
func (f SessionFilter) Matches(e session.Session) bool {
	return (len(f.Folders) == 0 || pathname.InFolders(f.Folders, e.CWD)) &&
		(f.Project == "" || strings.EqualFold(path.Base(pathname.Slashed(e.CWD, pathname.OnWindows)), f.Project)) &&
		!e.UpdatedAt.Before(f.Since)
}

// ImportedTask is a task from before ctxls was told of any, found in a host's record.
type ImportedTask struct {
	Key    session.Key
	Tokens int
	At     time.Time
}

// Claim is the value of one trigger of an alert.
type Claim struct {
	Key   session.Key // the session; the zero Key is of no session
	Name  string      // the trigger
	Value int64
	// At is when the session had this value. A claim from before the stored one changes nothing, and did not rise.
	At time.Time
	// First is whether a value above 0 rose where none is stored.
	First bool
}
