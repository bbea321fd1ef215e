package core

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/session"
)

// MaxPayload bounds one payload of a host, in bytes.
const MaxPayload = 64 << 20

// Adapter speaks one host's language. Each host has its own package that implements it; Service, and through it every
// door, meets hosts only through this interface.
type Adapter interface {
	// Host names the host that the adapter is for.
	Host() session.Host
	// Rules returns what the domain must know of the host.
	Rules() session.Rules
	// Decode turns one payload of the host into an event. name is the host's name of the event where the payload does not
	// carry it, "" otherwise. A payload that is not the host's is an error with CodeInvalid; one that is, but means nothing
	// to ctxls, is an event of Kind Seen.
	Decode(name string, payload []byte) (session.Event, error)
	// Read returns what the transcript at path holds from the given cursor on. It reads a bounded amount whatever the size
	// of the file: where more has been appended since, it starts nearer the end. No usable file is an empty Reading with
	// an error that says why, for the log.
	Read(ctx context.Context, path string, from session.Cursor) (session.Reading, error)
	// Encode returns what the host is handed for the event, verbatim: nil when the effects have no place there.
	Encode(ev session.Event, effects []session.Effect) ([]byte, error)
}

// Scanner is an Adapter whose host records conversations in a way that can be read back as far as the window reaches.
type Scanner interface {
	// Scan visits what the model's window holds by the transcript at path, newest first, until visit returns false: the
	// entries since the last compaction, with the summary that it left, and of those before it what the host kept. In the
	// order of the file, the report of an answer stands before the answer's content or in the same entry. It
	// takes as long as that takes, and calls progress meanwhile with how many bytes it has read and how many there are.
	// No usable file is an error that says why.
	Scan(ctx context.Context, path string, progress func(done, total int64), visit func(session.Entry) bool) error
}
