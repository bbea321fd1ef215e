package core

import (
	"context"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Record is where a host keeps one session on the disk.
type Record struct {
	session.Key
	Path    string    // of the file, or of the database that holds the session
	ModTime time.Time // when the session last changed
	Size    int64     // bytes; 0 where the record is part of a database
	HostPID int       // the process that runs the session now; 0 is unknown
}

// Recorder finds and reads the sessions that one host keeps on the disk. It needs no hook. It reads only below the host's own
// directories, opens regular files only, follows no link out of them, and changes nothing.
type Recorder interface {
	// Host names the host.
	Host() session.Host
	// Dirs returns the directories below which the records lie, whether or not they exist.
	Dirs() []string
	// Find returns the records that changed at or after since, the newest first, without reading them. The zero since finds all.
	Find(ctx context.Context, since time.Time) ([]Record, error)
	// At returns the record that the file at path is, or is a part of, as the path alone tells. The path need not exist any
	// longer: the record then has no ModTime.
	At(path string) (Record, bool)
	// Recognize returns the record that the file at path is, wherever it lies, as its content tells.
	Recognize(path string) (Record, bool)
	// Turns returns the turns of the session, oldest first. It reads all of the record.
	Turns(ctx context.Context, r Record) ([]RecordedTurn, error)
	// Read returns what a record says, as events of kind RecordRead in the order in which they are to be reduced: one of
	// the session, then one of each sub-agent that has a record of its own. It reads a bounded amount. A brief reading leaves out the working set.
	Read(ctx context.Context, r Record, brief bool) ([]session.Event, error)
}

// Historian is a Recorder of records that can be read back past compactions.
type Historian interface {
	// History visits what a record tells, the newest first, until visit returns false: prompts that a person typed, calls, failed
	// results, files, responses, and compactions with what they left. It reads at most 16 MiB. texts says whether the texts of answers
	// and results are wanted, too. An entry is only valid during the call. No usable record is an error that says why.
	History(ctx context.Context, r Record, texts bool, visit func(session.Entry) bool) error
}

// RecordedTurn is a turn of a session, as its record tells.
type RecordedTurn struct {
	At     time.Time // of its last response
	Tokens int       // the most that the window held
}
