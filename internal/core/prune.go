package core

import (
	"context"
	"slices"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/plan"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Prune decides what a host leaves out of a request that it is about to make, and remembers it for the session: the same stays out of later requests. It returns the plan of what is new, and all
// that is left out. That is nothing while prune.enabled is off, for a session that is not stored, and after Unprune.
func (s *Service) Prune(ctx context.Context, key session.Key, req conversation.PlanRequest) (plan.Report, []conversation.Pruned, error) {
	none := plan.Report{Items: []plan.Item{}}
	if !s.Config("").Prune.Enabled {
		return none, []conversation.Pruned{}, nil
	}
	st, err := s.Store.Load(ctx, Query{Key: key})
	if err != nil || !st.Known || st.Session.PruneOff {
		return none, []conversation.Pruned{}, err
	}
	learned, err := s.Store.Windows(ctx)
	if err != nil {
		return none, nil, err
	}
	e := st.Session
	usage := s.views([]session.Snapshot{st.Snapshot}, learned)[0].Usage
	req.Now = s.Now()
	if req.Model == "" {
		req.Model, req.Provider = e.Model, e.Provider
	}
	ask := conversation.PruneRequest{
		PlanRequest: req, Situation: plan.Situation{Now: req.Now}, Frozen: !e.Compaction.Expire(req.Now).OpenedAt.IsZero(),
	}
	ask.WindowTokens = &usage.WindowTokens
	if e.Gauge.Reported() {
		ask.Tokens, ask.Situation.LastResponse = e.Gauge.Projected(), e.Gauge.At
	}
	if usage.CompactionTokens != nil {
		ask.Situation.CompactsAt = *usage.CompactionTokens
	}
	if usage.GrowthPerTurn != nil {
		ask.Situation.Growth = *usage.GrowthPerTurn
	}
	for _, p := range e.Pruned {
		ask.Known = append(ask.Known, conversation.Pruned{PartID: p.PartID, What: conversation.PrunedBy(p.What), Text: p.Text})
	}
	result, err := s.Meter.Prune(ask)
	if err != nil {
		return none, nil, err
	}
	if len(result.New) > 0 {
		if err := s.remember(ctx, key, result); err != nil {
			return none, nil, err
		}
	}
	situation := ask.Situation
	situation.Prices = plan.PricesOf(req.Provider, req.Model)
	report := result.Found.Report(0, situation)
	report.Items, report.FreeableTokens, report.AfterTokens = result.New, result.Cut.Freed, result.Found.Tokens-plan.Freed(result.New)
	if result.New == nil {
		report.Items, report.FreeableTokens = []plan.Item{}, 0
	}
	return report, result.Pruned, nil
}

// remember stores what is left out of the session's requests from now on, and counts what that saves.
func (s *Service) remember(ctx context.Context, key session.Key, result conversation.PruneResult) error {
	var pruned []session.PrunedPart
	for _, p := range result.Pruned {
		pruned = append(pruned, session.PrunedPart{PartID: p.PartID, What: string(p.What), Text: p.Text})
	}
	err := s.Store.Update(ctx, Query{Key: key}, func(st session.State) session.Changes {
		if !st.Known || st.Session.PruneOff {
			return session.Changes{}
		}
		st.Session.Pruned = slices.Clone(pruned)
		return session.Changes{Session: &st.Session}
	})
	if err == nil {
		err = s.CountTrim(ctx, plan.Freed(result.New))
	}
	return err
}

// Unprune has the host of a session send everything again, from its next request on and for good. It returns how many parts were left out. A session that is not stored is an error with
// CodeNotFound.
func (s *Service) Unprune(ctx context.Context, key session.Key) (parts int, err error) {
	found := false
	err = s.Store.Update(ctx, Query{Key: key}, func(st session.State) session.Changes {
		if found = st.Known; !found {
			return session.Changes{}
		}
		parts = len(st.Session.Pruned)
		st.Session.Pruned, st.Session.PruneOff = nil, true
		return session.Changes{Session: &st.Session}
	})
	if err == nil && !found {
		err = coded.Errorf(coded.NotFound, "no hook has told ctxls of this session, and nothing is left out of its requests")
	}
	return parts, err
}
