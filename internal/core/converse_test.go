package core

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/token"
)

func (w *testEnv) meteredService() *Service {
	s := w.service()
	s.Meter = conversation.NewMeter(func(name string) (token.Counter, error) { return token.Get(name) }, token.ForModel)
	return s
}

func spokenWords(words ...int) conversation.Conversation {
	var messages []string
	for _, n := range words {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":%q}`, strings.TrimSpace(strings.Repeat("a ", n))))
	}
	return conversation.Conversation{Messages: []byte("[" + strings.Join(messages, ",") + "]")}
}

func TestServiceMeasure(t *testing.T) {
	w := newTestEnv()
	w.cfg.Trim.ThresholdTokens = 4
	c := spokenWords(5)
	m, err := w.meteredService().Measure(t.Context(), conversation.MeasureRequest{Conversation: c}, "")
	if err != nil || m.Tokens != 5 || !m.ExceedsThreshold || m.ThresholdTokens != 4 || m.WindowTokens != nil || m.Percent != nil {
		t.Errorf("%+v, %v", m, err)
	}
	c.Model = "gpt-4o"
	if m, err = w.meteredService().Measure(t.Context(), conversation.MeasureRequest{Conversation: c}, ""); err != nil || m.WindowTokens == nil || *m.WindowTokens != 128_000 {
		t.Errorf("a model of the table: %+v, %v", m, err)
	}
	c.Model = "model-9"
	if m, err = w.meteredService().Measure(t.Context(), conversation.MeasureRequest{Conversation: c}, ""); err != nil || m.WindowTokens != nil {
		t.Errorf("a model nobody knows: %+v, %v", m, err)
	}
}

// A lower threshold lowers the target too. The requested threshold is recorded, and the session's own turns no longer
// count.
func TestServicePrepare(t *testing.T) {
	w := newTestEnv()
	w.cfg.Trim.ThresholdTokens = 10
	w.play(t, session.Event{Kind: session.PromptSubmitted})
	p, _, err := w.meteredService().Prepare(t.Context(), conversation.PrepareRequest{TaskID: "t", TrimRequest: conversation.TrimRequest{Conversation: spokenWords(6, 6, 6)}}, "s", "")
	if err != nil || p.OriginalTokens != 18 || p.Tokens != 6 || !p.Trimmed || len(p.Removed) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if len(w.tasks) != 1 || w.tasks[0].Tokens != 18 || w.trim != (fleet.TrimCount{Operations: 1, Tokens: 12}) {
		t.Errorf("tasks %+v, trims %+v", w.tasks, w.trim)
	}
	if w.play(t, w.at(session.TurnFinished, 100_000)); len(w.tasks) != 1 {
		t.Errorf("the session's turn was recorded too: %+v", w.tasks)
	}
	if p, _, err = w.meteredService().Prepare(t.Context(), conversation.PrepareRequest{TaskID: "u", TrimRequest: conversation.TrimRequest{Conversation: spokenWords(6)}}, "", ""); err != nil || p.Trimmed || w.trim.Operations != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, _, err := w.meteredService().Prepare(t.Context(), conversation.PrepareRequest{}, "", ""); coded.CodeOf(err) != coded.Invalid {
		t.Errorf("without a task: %v", err)
	}
}

func TestServiceTrim(t *testing.T) {
	w := newTestEnv()
	target := 12
	r, err := w.meteredService().Trim(t.Context(), conversation.TrimRequest{Conversation: spokenWords(6, 6, 6), TargetTokens: &target}, "")
	if err != nil || r.Tokens != 12 || w.trim != (fleet.TrimCount{Operations: 1, Tokens: 6}) {
		t.Errorf("%+v, %v, trims %+v", r, err, w.trim)
	}
	if r, err = w.meteredService().Trim(t.Context(), conversation.TrimRequest{Conversation: spokenWords(6)}, ""); err != nil || r.Tokens != 6 || w.trim.Operations != 1 {
		t.Errorf("%+v, %v, trims %+v", r, err, w.trim)
	}
}

func TestInspect(t *testing.T) {
	w := newTestEnv()
	w.play(t, w.at(session.BatchFinished, 50_000))
	in, err := w.service().Inspect(t.Context(), Caller{Folders: []string{"/p"}})
	if err != nil || in.Session == nil || len(in.Sessions) != 1 || in.Report.WindowTasks != 1000 {
		t.Errorf("%+v, %v", in, err)
	}
	if samples, err := w.service().Samples(t.Context(), session.Key{SessionID: "s"}, 0); err != nil || len(samples) != 1 || samples[0].Tokens != 50_000 {
		t.Errorf("%+v, %v", samples, err)
	}
	if _, err := w.service().Samples(t.Context(), session.Key{SessionID: "nobody"}, 0); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("%v", err)
	}
}
