package records_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/records"
)

// A server keeps the list of records in memory. After every kind of change it is the list that a fresh look gives.
func TestAWatchedListIsTrue(t *testing.T) {
	m := newMachine(t, func(o *records.Options) { o.Now = time.Now })
	projects := filepath.Join(m.home, ".claude", "projects")
	now := time.Until(noon) // write dates files relative to noon
	list := func() []string {
		all := ids(m.sessions(core.SessionFilter{}))
		slices.Sort(all)
		return all
	}
	m.claude("s1", "basic", now)
	m.claude("s2", "basic", now+time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	<-m.seen.Watch(ctx)
	rename := func(from, to string) {
		if err := os.Rename(filepath.Join(projects, from), filepath.Join(projects, to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		what string
		do   func()
		want []string
	}{
		{"nothing", func() {}, []string{"s1", "s2"}},
		{"a new record", func() { m.claude("s3", "basic", now) }, []string{"s1", "s2", "s3"}},
		{"a record that is written again", func() { m.claude("s2", "compact-auto", now) }, []string{"s1", "s2", "s3"}},
		{"a removed record", func() { os.Remove(filepath.Join(projects, "-home-dev-project", "s1.jsonl")) }, []string{"s2", "s3"}},
		{"a renamed record", func() { rename("-home-dev-project/s3.jsonl", "-home-dev-project/s4.jsonl") }, []string{"s2", "s4"}},
		{"a new project", func() {
			m.write(".claude/projects/-new/s5.jsonl", m.captured("claudecode/testdata/transcripts/basic.jsonl"), now)
		}, []string{"s2", "s4", "s5"}},
		{"a renamed project", func() { rename("-new", "-newer") }, []string{"s2", "s4", "s5"}},
		{"a record in the renamed project", func() {
			m.write(".claude/projects/-newer/s6.jsonl", m.captured("claudecode/testdata/transcripts/basic.jsonl"), now)
		}, []string{"s2", "s4", "s5", "s6"}},
		{"a project that is moved away", func() { rename("-newer", "../gone") }, []string{"s2", "s4"}},
		{"another host's first record", func() {
			m.write(".gemini/tmp/project/chats/session-2026-11-21T09-55-5dd3f05d.jsonl", m.captured("gemini/testdata/transcripts/session-basic.jsonl"), now)
		}, []string{"5dd3f05d-3481-4432-8dca-ef46cf395131", "s2", "s4"}},
		{"no project at all", func() { os.RemoveAll(projects) }, []string{"5dd3f05d-3481-4432-8dca-ef46cf395131"}},
	} {
		step.do()
		got := list()
		for deadline := time.Now().Add(30 * time.Second); !slices.Equal(got, step.want) && time.Now().Before(deadline); got = list() {
			time.Sleep(10 * time.Millisecond)
		}
		m.want(step.what, got, step.want)
	}
}
