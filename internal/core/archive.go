package core

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Archive is a store that can be copied step by step. A Store need not implement it.
type Archive interface {
	Store
	// SamplesFrom returns the samples of a session whose sequence number is at least from, in that order; 0 is before all.
	SamplesFrom(ctx context.Context, key session.Key, from int64) ([]NumberedSample, error)
	// Tasks returns the tasks in the ring, oldest first.
	Tasks(ctx context.Context, windowTasks int) ([]NumberedTask, error)
}

// NumberedSample is a sample with its place in the history of its session. A later sample has a greater number, and a number is
// given once while the session is stored. Numbers may have gaps.
type NumberedSample struct {
	Seq int64
	session.Sample
}

// NumberedTask is a task with its place among all that the store ever recorded. A task that is recorded again keeps it.
type NumberedTask struct {
	Seq int64
	fleet.Task
}
