package core

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Index searches what hosts' records tell of before the last compaction. It is a cache: it builds itself from the record when it is asked.
type Index interface {
	// Search brings the index of a record up to date and returns the lines that match best, at most limit. found says how many matched,
	// compacted whether the record has a compaction; without one nothing is lost, and there are no lines.
	Search(ctx context.Context, r Record, h Historian, tools map[string]session.ToolClass, query string, limit int) (lines []RecallLine, found int, compacted bool, err error)
	// Forget removes all that is kept of a session.
	Forget(key session.Key) error
}

// RecallLine is a message of a record, or what a tool was given or gave back.
type RecallLine struct {
	At     *time.Time `json:"at"`            // null where the record does not say
	Role   string     `json:"role"`          // "user", "assistant", "call" or "result"
	Tool   string     `json:"tool,omitzero"` // of a call or a result, in the host's spelling
	Text   string     `json:"text"`          // as the record has it; of a call its arguments as JSON
	Cut    bool       `json:"cut,omitzero"`  // the text was longer than 2,000 characters
	Tokens int        `json:"tokens"`        // of the text, in cl100k_base
}

// Recollection is what a search found, the best match first.
type Recollection struct {
	Lines  []RecallLine `json:"lines"`  // as many as limit and maxTokens allow
	Tokens int          `json:"tokens"` // of all lines
	// Omitted is how many further lines matched that limit and maxTokens left no room for.
	Omitted int `json:"omitted"`
	// Compacted is false where the session was never compacted: all of it is in the window.
	Compacted bool `json:"compacted"`
}

// Bounds of a search.
const (
	DefaultRecallTokens = 2_000
	MaxRecallTokens     = 50_000
	DefaultRecallLines  = 10
	MaxRecallLines      = 100
	maxQuery            = 1_000 // characters
)

// RecallQuery is what to search for.
type RecallQuery struct {
	Query     string
	Limit     int // lines; 0 is DefaultRecallLines
	MaxTokens int // of all lines together; 0 is DefaultRecallTokens
}

// check fills in the defaults.
func (q *RecallQuery) check() error {
	if q.Limit == 0 {
		q.Limit = DefaultRecallLines
	}
	if q.MaxTokens == 0 {
		q.MaxTokens = DefaultRecallTokens
	}
	switch {
	case strings.TrimSpace(q.Query) == "" || len([]rune(q.Query)) > maxQuery:
		return coded.Field("query", "expected 1 to %d characters, got %d", maxQuery, len([]rune(q.Query)))
	case q.Limit < 1 || q.Limit > MaxRecallLines:
		return coded.Field("limit", "expected a whole number from 1 to %d, got %d", MaxRecallLines, q.Limit)
	case q.MaxTokens < 1 || q.MaxTokens > MaxRecallTokens:
		return coded.Field("maxTokens", "expected a whole number from 1 to %d, got %d", MaxRecallTokens, q.MaxTokens)
	}
	return nil
}

// Recall searches what the host's record tells of a session before its last compaction. An empty Host finds the session by its id. A session
// that is unknown is an error with CodeNotFound, one whose host keeps no record with CodeInvalid.
func (s *Service) Recall(ctx context.Context, key session.Key, q RecallQuery) (Recollection, error) {
	if err := q.check(); err != nil {
		return Recollection{}, err
	}
	stored, err := s.find(ctx, key)
	if err != nil {
		return Recollection{}, err
	}
	var h Historian
	if s.Historian != nil {
		h = s.Historian(stored.Host)
	}
	if h == nil || s.Index == nil {
		return Recollection{}, coded.Field("sessionId", "expected a session whose host keeps a record, got one of %s", stored.Host)
	}
	r := Record{Key: stored.Key(), Path: stored.Transcript}
	lines, found, compacted, err := s.Index.Search(ctx, r, h, s.rules(stored.Host).Tools, q.Query, q.Limit)
	if errors.Is(err, fs.ErrNotExist) {
		return Recollection{}, coded.Field("sessionId", "expected a session whose host's record is there: it was removed, or not named yet")
	}
	if err != nil {
		return Recollection{}, err
	}
	if _, err := s.find(ctx, stored.Key()); err != nil { // it was deleted meanwhile
		_ = s.Index.Forget(stored.Key())
		return Recollection{}, err
	}
	out := Recollection{Lines: []RecallLine{}, Compacted: compacted}
	for _, line := range lines {
		line.Tokens = s.price(line.Text)
		if out.Tokens+line.Tokens > q.MaxTokens {
			continue
		}
		out.Tokens += line.Tokens
		out.Lines = append(out.Lines, line)
	}
	out.Omitted = found - len(out.Lines)
	return out, nil
}
