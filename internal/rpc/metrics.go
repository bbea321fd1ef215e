package rpc

import (
	"context"

	"github.com/ctxls/ctxls/internal/core/fleet"
)

// RecordParams are the context of one task.
type RecordParams struct {
	TaskID string `json:"taskId"` // the caller's own; a repeat keeps the larger figure
	Tokens *int   `json:"tokens"` // the most that its context held
}

func (p *RecordParams) check() error {
	switch {
	case p.Tokens == nil:
		return invalid("tokens", "required, expected a whole number from 0 to %d", maxTokens)
	case *p.Tokens < 0, *p.Tokens > maxTokens:
		return invalid("tokens", "expected a whole number from 0 to %d, got %d", maxTokens, *p.Tokens)
	}
	return checkName("taskId", p.TaskID)
}

// RecordResult is where the fleet stands with the task.
type RecordResult struct {
	Recorded          bool    `json:"recorded"`          // always true
	P90ExceedanceRate float64 `json:"p90ExceedanceRate"` // share of the tasks above the threshold, 0–1
	Alerted           bool    `json:"alerted"`           // this task raised the alert; at most one in a minute does
}

func (s *Server) metricsRecord(ctx context.Context, p *RecordParams) (*RecordResult, error) {
	rate, alert, err := s.service.RecordTask(ctx, p.TaskID, *p.Tokens)
	return &RecordResult{Recorded: true, P90ExceedanceRate: rate, Alerted: alert != nil}, err
}

// ReportParams say what to report.
type ReportParams struct {
	Histogram bool `json:"histogram,omitzero"` // include the distribution of the tasks
}

// ReportResult is the figures over the last tasks.
type ReportResult struct {
	fleet.ContextOptimizationReport
	Histogram []fleet.Bin `json:"histogram,omitzero"` // if it was asked for: without gaps from 0 on; [] without tasks
}

func (s *Server) metricsReport(ctx context.Context, p *ReportParams) (*ReportResult, error) {
	if !p.Histogram {
		report, err := s.service.Report(ctx)
		return &ReportResult{ContextOptimizationReport: report}, err
	}
	report, err := s.service.FleetReport(ctx)
	return &ReportResult{report.ContextOptimizationReport, report.Histogram}, err
}
