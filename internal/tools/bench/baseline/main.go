// Command baseline is what the hook's whole process is measured against: it opens the state at the path given, commits the
// rows that a hook of a tool batch commits, and exits. It reads no payload, no settings and no transcript.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/store"
)

func main() {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{URL: os.Args[1]})
	if err != nil {
		log.Fatal(err)
	}
	now := time.Now()
	key := session.Key{Host: session.HostClaudeCode, SessionID: "baseline"}
	err = s.Update(ctx, core.Query{Key: key}, func(st session.State) session.Changes {
		sess := st.Session
		sess.Host, sess.SessionID, sess.CWD, sess.Model = key.Host, key.SessionID, "/home/dev/project", "claude-sonnet-4-6"
		sess.Gauge = session.Gauge{Known: true, Tokens: 143_912, Provenance: session.ProvenanceTranscript, At: now}
		sess.UpdatedAt = now
		return session.Changes{Session: &sess, MaxSessions: 100,
			Paths:   []session.PathUse{{Path: "/home/dev/project/src/main.go", Use: session.Read, At: now}, {Path: "/home/dev/project/src/util.go", Use: session.Read, At: now}},
			Samples: []session.Sample{{At: now, Tokens: 143_912, WindowTokens: 200_000, Kind: session.SampleUsage}}}
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
}
