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

// Store keeps the state that all ctxls processes share. All methods are safe for concurrent use, and several processes may have the same
// store open. Errors of the store itself have coded.Unavailable or coded.Internal.
type Store interface {
	// Update loads what q asks for, calls decide with it, and saves the changes that decide returns, all in one write transaction.
	// decide is called at most once, must not call the store, and should be quick, since other processes wait. When Update returns nil,
	// the changes survive a crash of the process.
	Update(ctx context.Context, q Query, decide func(session.State) session.Changes) error
	// Load returns what q asks for, in one consistent snapshot. It does not wait for writers.
	Load(ctx context.Context, q Query) (session.State, error)
	// Session returns one session with its working set, or an error with CodeNotFound.
	Session(ctx context.Context, key session.Key) (session.Snapshot, error)
	// FindSessions returns the sessions with an ID, one for each host that has it. It returns no error if there is none.
	FindSessions(ctx context.Context, id string) ([]session.Session, error)
	// Sessions returns the sessions that match f, the most recently updated first.
	Sessions(ctx context.Context, f SessionFilter) ([]session.Snapshot, error)
	// Taken returns which of the given sessions are stored, or were deleted and must not come back from a record.
	Taken(ctx context.Context, keys []session.Key) (map[session.Key]bool, error)
	// Samples returns the newest samples of a session, oldest first; all of them if limit is 0. A store keeps some thousands: fewer of
	// the older ones, but every compaction.
	Samples(ctx context.Context, key session.Key, limit int) ([]session.Sample, error)
	// Changed returns the changes since a revision, which comes from an earlier Feed; 0 is before everything. After a signal from Watch,
	// call Changed to learn what changed, in any process.
	Changed(ctx context.Context, since int64) (Feed, error)
	// Fleet returns the data behind the fleet figures.
	Fleet(ctx context.Context, windowTasks int) (fleet.Fleet, error)
	// ImportTasks replaces the imported tasks by those of sessions without a task in the ring. They take the room that recorded tasks
	// leave in the ring. The newest come in, older than all recorded ones. It returns their number. It removes imported calibrations.
	ImportTasks(ctx context.Context, tasks []ImportedTask, windowTasks int) (kept int, err error)
	// Claim stores the value of a trigger of an alert, and reports whether it rose: of all processes that see one rise, one is told.
	Claim(ctx context.Context, c Claim) (rose bool, err error)
	// Windows returns every learned window.
	Windows(ctx context.Context) ([]session.LearnedWindow, error)
	// Watch returns a channel that receives a signal within a fraction of a second of a change that any process commits after the call.
	// Several changes may give one signal, and some signals come without a change. Watching ends with ctx; the channel is never closed.
	Watch(ctx context.Context) <-chan struct{}
	Close() error
}

// Query says what Update and Load read.
type Query struct {
	Key session.Key // the session; the zero Key loads none
	// Provider and Model choose the learned window; "" means those of the stored session.
	Provider, Model string
	WorkingSet      bool // load Snapshot.WorkingSet
	// Calibration asks for the model's calibration in this encoding; "" loads none.
	Calibration string
	// Task returns the task that may be recorded, given the stored session, so that the sums of the ring are loaded for it. If it is nil
	// or returns "", none are loaded.
	Task          func(session.Session) string
	TaskThreshold int // tokens above which a task counts as exceeding
	WindowTasks   int // the length of the ring
}

// Feed is the changes in the store since a revision. Every save of a session, its paths or its samples has its own revision, and so has
// every removal. A revision is greater than all before it.
type Feed struct {
	Revision int64              // the newest revision, for the next call
	Sessions []session.Snapshot // saved since, in their current state, in the order of the last save
	Removed  []session.Key      // removed since and not saved again, in the order of removal; empty if Whole is set
	// Whole says that Sessions is the complete list, and that the receiver drops all others. This is so if since was 0, belongs to a
	// store that was replaced, or is so old that the store has forgotten the removals.
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

// Matches reports whether the filter selects a session by its directory and age, which stores have no index for.
func (f SessionFilter) Matches(e session.Session) bool {
	return (len(f.Folders) == 0 || pathname.InFolders(f.Folders, e.CWD)) &&
		(f.Project == "" || strings.EqualFold(path.Base(pathname.Slashed(e.CWD, pathname.OnWindows)), f.Project)) &&
		!e.UpdatedAt.Before(f.Since)
}

// ImportedTask is a task from a host's record, from before ctxls recorded tasks.
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
