package core

import (
	"cmp"
	"context"

	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
)

// Measure counts a conversation under the settings for cwd. If the request has no window, the model's window counts, if it is known.
func (s *Service) Measure(ctx context.Context, req conversation.MeasureRequest, cwd string) (conversation.Measurement, error) {
	cfg := s.Config(cwd)
	if req.ThresholdTokens == nil {
		req.ThresholdTokens = &cfg.Trim.ThresholdTokens
	}
	if req.WindowTokens == nil && req.Model != "" {
		w, err := s.modelWindow(ctx, session.HostGeneric, req.Provider, req.Model, cfg, session.Rules{})
		if err != nil {
			return conversation.Measurement{}, err
		}
		if w.Provenance != model.WindowFromDefault {
			req.WindowTokens = &w.Tokens
		}
	}
	return s.Meter.Measure(req)
}

// Trim trims a conversation under the settings for cwd, and counts the trim if it saved tokens.
func (s *Service) Trim(ctx context.Context, req conversation.TrimRequest, cwd string) (conversation.TrimResult, error) {
	if req.TargetTokens == nil {
		req.TargetTokens = &s.cfgTrim(cwd).TargetTokens
	}
	result, err := s.Meter.Trim(req)
	if err == nil && len(result.Removed)+len(result.Cleared) > 0 {
		err = s.CountTrim(ctx, result.OriginalTokens-result.Tokens)
	}
	return result, err
}

// Prepare is called by an agent loop before each call of its model. It measures the conversation, trims it if it exceeds the threshold,
// and records the tokens of the task. From then on, only Prepare records the turns of the sessions with the ID sessionID.
func (s *Service) Prepare(ctx context.Context, req conversation.PrepareRequest, sessionID, cwd string) (conversation.Prepared, *fleet.Alert, error) {
	trim := s.cfgTrim(cwd)
	if req.ThresholdTokens == nil {
		req.ThresholdTokens = &trim.ThresholdTokens
	}
	if req.TargetTokens == nil {
		req.TargetTokens = &trim.TargetTokens
	}
	result, err := s.Meter.Prepare(req)
	if err != nil {
		return result, nil, err
	}
	if result.ExceedsThreshold {
		s.Log.Warn("a conversation is over the threshold", "task", req.TaskID, "tokens", result.OriginalTokens, "thresholdTokens", *req.ThresholdTokens, "trimmedTo", result.Tokens)
	}
	if result.Trimmed {
		if err := s.CountTrim(ctx, result.OriginalTokens-result.Tokens); err != nil {
			return result, nil, err
		}
	}
	if err := s.leaveTasksToCaller(ctx, cmp.Or(sessionID, req.TaskID)); err != nil {
		return result, nil, err
	}
	_, alert, err := s.RecordTask(ctx, req.TaskID, result.OriginalTokens)
	return result, alert, err
}

// leaveTasksToCaller marks the sessions with an ID, so that their turns are not recorded twice.
func (s *Service) leaveTasksToCaller(ctx context.Context, sessionID string) error {
	found, err := s.Store.FindSessions(ctx, sessionID)
	if err != nil {
		return err
	}
	for _, known := range found {
		if known.Prepared {
			continue
		}
		err := s.Store.Update(ctx, Query{Key: known.Key()}, func(st session.State) session.Changes {
			if !st.Known {
				return session.Changes{}
			}
			st.Session.Prepared = true
			return session.Changes{Session: &st.Session}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cfgTrim returns the trim settings. A target above the threshold is lowered to it.
func (s *Service) cfgTrim(cwd string) *settings.TrimConfig {
	trim := s.Config(cwd).Trim
	trim.TargetTokens = min(trim.TargetTokens, trim.ThresholdTokens)
	return &trim
}
