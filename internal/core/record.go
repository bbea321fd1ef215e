package core

import (
	"context"
	"time"

	"github.com/ctxls/ctxls/internal/core/session"
)

// Record is the place where a host keeps one session on the disk.
type Record struct {
	session.Key
	Path    string    // of the file, or of the database with the session
	ModTime time.Time // when the session last changed
	Size    int64     // bytes; 0 if the record is part of a database
	HostPID int       // the process that runs the session now; 0 is unknown
}

// Recorder finds and reads the sessions that one host keeps on the disk, without hooks. It reads only regular files below the host's own
// directories, follows no link to the outside, and changes nothing.
type Recorder interface {
	// Host returns the host.
	Host() session.Host
	// Dirs returns the directories of the records. They need not exist.
	Dirs() []string
	// Find returns the records that changed at or after since, newest first, without reading them. The zero since finds all.
	Find(ctx context.Context, since time.Time) ([]Record, error)
	// At returns the record to which the file at path belongs, judged by the path alone. The file need not exist any more; the record
	// then has no ModTime.
	At(path string) (Record, bool)
	// Recognize returns the record in the file at path, judged by its content. The file may be in any directory.
	Recognize(path string) (Record, bool)
	// Turns returns the turns of the session, oldest first. It reads the whole record.
	Turns(ctx context.Context, r Record) ([]RecordedTurn, error)
	// Read returns the content of a record as events of kind RecordRead, in the order for Reduce: one of the session, then one of each
	// sub-agent with its own record. It reads a bounded number of bytes. A brief reading leaves out the working set.
	Read(ctx context.Context, r Record, brief bool) ([]session.Event, error)
}

// Historian is a Recorder whose records can be read back past compactions.
type Historian interface {
	// History visits the content of a record, newest first, until visit returns false: prompts of the user, calls, failed results,
	// files, responses, and compactions with their summaries. It reads at most 16 MiB. texts asks for the texts of answers and results,
	// too. An entry is only valid during the call. An error gives the reason why there is no usable record.
	History(ctx context.Context, r Record, texts bool, visit func(session.Entry) bool) error
}

// RecordScanner is a Recorder whose records can be read back to the start of the window, and are found by their session. It is for hosts
// whose record is no file of its own, which a Scanner would take by its path.
type RecordScanner interface {
	// ScanRecord visits what Scanner.Scan does of the record of r.Key.
	ScanRecord(ctx context.Context, r Record, progress func(done, total int64), visit func(session.Entry) bool) error
}

// RecordedTurn is a turn of a session in its record.
type RecordedTurn struct {
	At     time.Time // of its last response
	Tokens int       // the largest occupancy
}
