package core

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/session"
)

// MaxPayload bounds one payload of a host, in bytes.
const MaxPayload = 64 << 20

// Adapter converts between one host and ctxls. Each host has its own package that implements it. Service, and through it every command
// and server, uses hosts only through this interface.
type Adapter interface {
	// Host returns the host of the adapter.
	Host() session.Host
	// Rules returns the host's properties that the domain needs.
	Rules() session.Rules
	// Decode converts a payload of the host to an event. name is the host's name of the event if the payload does not contain it, else
	// "". A payload that is not the host's is an error with coded.Invalid. A payload of the host that ctxls does not use is an event of
	// Kind Seen.
	Decode(name string, payload []byte) (session.Event, error)
	// Read returns the part of the transcript at path from a cursor on. It reads a bounded number of bytes: if more was appended, it
	// starts nearer to the end. If there is no usable file, the Reading is empty, and the error gives the reason for the log.
	Read(ctx context.Context, path string, from session.Cursor) (session.Reading, error)
	// Encode returns the output for the host, verbatim; nil if the event has no place for the effects.
	Encode(ev session.Event, effects []session.Effect) ([]byte, error)
}

// Scanner is an Adapter whose host keeps records that can be read back to the start of the window.
type Scanner interface {
	// Scan visits the content of the model's window by the transcript at path, newest first, until visit returns false. These are the
	// entries since the last compaction with its summary, and the earlier entries that the host kept. In the order of the file, the
	// report of an answer comes before the answer's content or in the same entry. Scan may take long; it calls progress with the number
	// of bytes that it has read, and of all bytes. An error gives the reason why there is no usable file.
	Scan(ctx context.Context, path string, progress func(done, total int64), visit func(session.Entry) bool) error
}

// RequestReader is an Adapter whose host writes its requests into its records.
type RequestReader interface {
	// LastRequest returns what the record at path says of the last request of the main conversation, nil if it says nothing. It reads a
	// bounded number of bytes.
	LastRequest(ctx context.Context, path string) (*session.RequestRecord, error)
}
