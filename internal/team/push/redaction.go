package push

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"strings"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Projects says what is sent of a session's project.
type Projects string

// What may be sent of a project.
const (
	ProjectName Projects = "name" // the last element of its directory
	ProjectHash Projects = "hash" // a hash of that and of the team's name: the same on every machine of the team
	ProjectNone Projects = "none"
)

// maxName is the most characters of a model's or a provider's name that are sent.
const maxName = 100

// Redaction turns what a machine knows into what it sends.
type Redaction struct {
	Salt     string // a secret of the machine, so that ids of sessions cannot be guessed from their hashes
	Team     string
	Projects Projects
}

// Session returns the name under which a session is sent: the first 16 hexadecimal digits of a salted SHA-256.
func (r Redaction) Session(key session.Key) string {
	return digest(16, "session", r.Salt, string(key.Host), key.SessionID)
}

// Project returns what is sent of the project in a directory.
func (r Redaction) Project(cwd string) string {
	name := text.Sanitize(path.Base(strings.ReplaceAll(cwd, `\`, "/")), maxName)
	switch {
	case cwd == "", r.Projects == ProjectNone:
		return ""
	case r.Projects == ProjectName:
		return name
	}
	return digest(12, "project", r.Team, name)
}

// view returns a session as it is sent, but for Seq.
func (r Redaction) view(v core.SessionView, gone bool) Session {
	u := v.Usage
	s := Session{
		Session: r.Session(session.Key{Host: v.Host, SessionID: v.SessionID}),
		Host:    v.Host, Provider: text.Sanitize(v.Provider, maxName), Model: text.Sanitize(v.Model, maxName), Project: r.Project(v.CWD),
		StartedAt: millis(v.StartedAt), UpdatedAt: millis(v.UpdatedAt),
		Compactions: v.Compactions, Compacting: v.Compacting, Gone: gone,
		Tokens: u.Tokens, WindowTokens: u.WindowTokens, CompactionTokens: u.CompactionTokens, ToCompaction: u.ToCompaction, Level: u.Level,
	}
	if v.EndedAt != nil {
		s.EndedAt = millis(*v.EndedAt)
	}
	u.WindowWhy = "" // it may quote a refusal
	s.Usage, _ = json.Marshal(u)
	return s
}

// digest returns the first digits of a hash of parts, none of which can run into the next.
func digest(digits int, parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		one := sha256.Sum256([]byte(part))
		sum.Write(one[:])
	}
	return hex.EncodeToString(sum.Sum(nil))[:digits]
}
