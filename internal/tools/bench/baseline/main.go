// Command baseline is what the hook's whole process is measured against: it opens the state at the path given, commits the
// rows that a hook of a tool batch commits, and exits. It reads no payload, no settings and no transcript.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/store"
)

func main() {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{URL: os.Args[1]})
	if err != nil {
		log.Fatal(err)
	}
	now := time.Now()
	key := core.Key{Host: core.HostClaudeCode, SessionID: "baseline"}
	err = s.Update(ctx, core.Query{Key: key}, func(st core.State) core.Changes {
		session := st.Session
		session.Host, session.SessionID, session.CWD, session.Model = key.Host, key.SessionID, "/home/dev/project", "claude-sonnet-4-6"
		session.Gauge = core.Gauge{Known: true, Tokens: 143_912, Provenance: core.ProvenanceTranscript, At: now}
		session.UpdatedAt = now
		return core.Changes{Session: &session, MaxSessions: 100,
			Paths:   []core.PathUse{{Path: "/home/dev/project/src/main.go", Use: core.Read, At: now}, {Path: "/home/dev/project/src/util.go", Use: core.Read, At: now}},
			Samples: []core.Sample{{At: now, Tokens: 143_912, WindowTokens: 200_000, Kind: core.SampleUsage}}}
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
}
