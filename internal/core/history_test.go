package core

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/conversation"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/token"
)

// recordingHost is a host with a record that is read back.
type recordingHost struct {
	plainAdapter
	entries []session.Entry // oldest first
	err     error
}

func (h recordingHost) Scan(_ context.Context, _ string, progress func(done, total int64), visit func(session.Entry) bool) error {
	progress(1, 1)
	return h.History(context.Background(), Record{}, true, visit)
}

func (h recordingHost) History(_ context.Context, _ Record, _ bool, visit func(session.Entry) bool) error {
	for _, e := range slices.Backward(h.entries) {
		if e.Content = slices.Clone(e.Content); !visit(e) {
			break
		}
	}
	return h.err
}

// recordingService returns a service whose Claude Code keeps that record.
func (w *testEnv) recordingService(t *testing.T, err error, entries ...session.Entry) *Service {
	t.Helper()
	s := w.meteredService()
	host := recordingHost{plainAdapter{host: session.HostClaudeCode, rules: claudeRules}, entries, err}
	s.Adapters[session.HostClaudeCode] = host
	s.Historian = func(h session.Host) Historian {
		if h != session.HostClaudeCode {
			return nil
		}
		return host
	}
	counter, err := token.Get(session.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	s.Counter = counter
	return s
}

// database is a Historian that reads a window by its session.
type database struct{ recordingHost }

func (d database) ScanRecord(ctx context.Context, r Record, progress func(done, total int64), visit func(session.Entry) bool) error {
	if r.Key.SessionID != keyOfS.SessionID {
		return fs.ErrNotExist
	}
	return d.Scan(ctx, "", progress, visit)
}

var keyOfS = session.Key{SessionID: "s"}

// readEntries are a response that reads a file, with its result.
func readEntries(id string, tokens int, text string) []session.Entry {
	return []session.Entry{
		{Report: &session.Report{Tokens: tokens, MessageID: id}, Content: []session.Piece{{Class: session.ToolCall, Tool: "Read", CallID: id, Path: "/p/a.go", Text: `{"file_path":"/p/a.go"}`}}},
		{Results: []session.CallResult{{CallID: id}}, Content: []session.Piece{{Class: session.ToolResult, Tool: "Read", CallID: id, Path: "/p/a.go", Text: text}}},
	}
}

func TestSessionPlan(t *testing.T) {
	w := newTestEnv()
	w.play(t, session.Event{Kind: session.PromptSubmitted, Transcript: "/p/t.jsonl"}, w.at(session.BatchFinished, 60_000))
	file := strings.Repeat("a line of the file that is read twice\n", 400)
	entries := []session.Entry{{Content: []session.Piece{{Class: session.PromptText, Text: "Please read it."}}}}
	entries = append(entries, readEntries("1", 50_000, file)...)
	entries = append(entries, readEntries("2", 55_000, file)...)
	entries = append(entries, session.Entry{Report: &session.Report{Tokens: 60_000, MessageID: "3", At: w.now}, Content: []session.Piece{{Class: session.AnswerText, Text: "Done."}}})
	for i := range entries {
		entries[i].At = w.now
	}
	one, target := 1, 1_000
	report, err := w.recordingService(t, nil, entries...).SessionPlan(t.Context(), SessionPlanRequest{Key: keyOfS, KeepLast: &one, TargetTokens: &target})
	if err != nil || len(report.Items) != 1 || report.Items[0].Where.Path != "a.go" || report.FreeableTokens == 0 || report.AfterTokens >= 60_000 {
		t.Errorf("a file that is read twice: %+v, %v", report, err)
	}
	if all, err := w.recordingService(t, nil, entries...).SessionPlan(t.Context(), SessionPlanRequest{Key: keyOfS}); err != nil || len(all.Items) != 0 {
		t.Errorf("the newest responses are left alone: %+v, %v", all, err)
	}
	zero, negative := 0, -1
	for field, req := range map[string]SessionPlanRequest{"targetTokens": {TargetTokens: &zero}, "keepLast": {KeepLast: &negative}} {
		req.Key = keyOfS
		if _, err := w.recordingService(t, nil, entries...).SessionPlan(t.Context(), req); coded.CodeOf(err) != coded.Invalid || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	for why, s := range map[string]*Service{"record of the conversation is gone": w.recordingService(t, fs.ErrNotExist), "reads no record": w.meteredService()} {
		if _, err := s.SessionPlan(t.Context(), SessionPlanRequest{Key: keyOfS}); coded.CodeOf(err) != coded.NotFound || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	if _, err := w.meteredService().SessionPlan(t.Context(), SessionPlanRequest{Key: session.Key{SessionID: "none"}}); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("an unknown session: %v", err)
	}
}

func TestSessionBreakdown(t *testing.T) {
	w := newTestEnv()
	w.play(t, session.Event{Kind: session.PromptSubmitted, Transcript: "/p/t.jsonl"}, w.at(session.BatchFinished, 60_000))
	entries := []session.Entry{{Content: []session.Piece{{Class: session.PromptText, Text: "Please read it."}}}}
	entries = append(entries, readEntries("1", 60_000, "alpha")...)
	detail, err := w.recordingService(t, nil, entries...).SessionBreakdown(t.Context(), keyOfS, nil)
	if err != nil || detail.Breakdown == nil || len(detail.Breakdown.Parts) < 2 || *detail.Breakdown.Tokens != 60_000 {
		t.Errorf("%+v, %v", detail.Breakdown, err)
	}
	// A record in a database is read by its session, and needs no path.
	s := w.recordingService(t, nil, entries...)
	kept := s.Adapters[session.HostClaudeCode].(recordingHost)
	s.Adapters[session.HostClaudeCode] = kept.plainAdapter
	s.Historian = func(session.Host) Historian { return database{kept} }
	if detail, err = s.SessionBreakdown(t.Context(), keyOfS, nil); err != nil || detail.Breakdown.Tokens == nil || *detail.Breakdown.Tokens != 60_000 {
		t.Errorf("from a database: %+v, %v", detail.Breakdown, err)
	}
	for why, s := range map[string]*Service{
		"reads no record":          w.meteredService(),
		"is gone":                  w.recordingService(t, fs.ErrNotExist),
		"cannot be read":           w.recordingService(t, fs.ErrPermission),
		"no response of this size": w.recordingService(t, nil),
	} {
		detail, err := s.SessionBreakdown(t.Context(), keyOfS, nil)
		if err != nil || !strings.Contains(detail.Breakdown.Why, why) {
			t.Errorf("%s: %+v, %v", why, detail.Breakdown, err)
		}
	}
}

func TestCompactionsOfASession(t *testing.T) {
	w := newTestEnv()
	w.play(t, session.Event{Kind: session.PromptSubmitted, Transcript: "/p/t.jsonl"})
	at := func(minute int) time.Time { return w.now.Add(time.Duration(minute) * time.Minute) }
	entries := []session.Entry{
		{At: at(0), Content: []session.Piece{{Class: session.PromptText, Text: "Never touch the files below gen/ by hand."}}},
		{At: at(1), Boundary: &session.Boundary{ID: "1", At: at(1), PreTokens: 150_000, PostTokens: 20_000, Summary: "The work went on.", Automatic: true}},
		{At: at(2), Boundary: &session.Boundary{ID: "2", At: at(2), PreTokens: 90_000, Summary: "It went on."}},
	}
	ledger, err := w.recordingService(t, nil, entries...).Compactions(t.Context(), keyOfS)
	if err != nil || len(ledger) != 2 {
		t.Fatalf("%+v, %v", ledger, err)
	}
	for why, s := range map[string]*Service{"keeps a record": w.service(), "was removed": w.recordingService(t, fs.ErrNotExist)} {
		if _, err := s.Compactions(t.Context(), keyOfS); coded.CodeOf(err) != coded.Invalid || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
	if _, err := w.service().Compactions(t.Context(), session.Key{SessionID: "none"}); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("an unknown session: %v", err)
	}
}

// What the user said and what was run before a compaction is given back after it, unless both budgets are 0.
func TestWordsAndCommandsAreGivenBack(t *testing.T) {
	for _, budget := range []int{0, 400} {
		w := newTestEnv()
		w.cfg.Compaction.WordTokens, w.cfg.Compaction.CommandTokens = budget, budget
		w.play(t, session.Event{Kind: session.PromptSubmitted, Transcript: "/p/t.jsonl"}, w.at(session.BatchFinished, 60_000))
		s := w.recordingService(t, nil,
			session.Entry{At: w.now.Add(-time.Hour), Content: []session.Piece{{Class: session.PromptText, Text: "Never touch the files below gen/ by hand."}}},
			session.Entry{At: w.now.Add(-time.Hour), Report: &session.Report{MessageID: "1", Tokens: 1}, Content: []session.Piece{{Class: session.ToolCall, Tool: "Bash", CallID: "1", Text: `{"command":"go test ./..."}`}}},
			session.Entry{At: w.now.Add(-time.Hour), Results: []session.CallResult{{CallID: "1"}}},
			session.Entry{At: w.now.Add(-30 * time.Minute), Boundary: &session.Boundary{ID: "0", Summary: "The work went on."}},
			session.Entry{At: w.now.Add(-20 * time.Minute), Content: []session.Piece{{Class: session.PromptText, Text: "Now write the lexer of the second grammar."}}},
		)
		out, err := s.Handle(t.Context(), session.Event{Host: session.HostClaudeCode, SessionID: "s", Kind: session.CompactionDone, CWD: "/p", Accepts: []session.EffectKind{session.Inject}})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(texts(out.Effects), "Never touch the files below gen/ by hand."); said != (budget > 0) {
			t.Errorf("with %d tokens: %q", budget, texts(out.Effects))
		}
		if said := strings.Contains(texts(out.Effects), "go test ./..."); said != (budget > 0) {
			t.Errorf("with %d tokens: %q", budget, texts(out.Effects))
		}
	}
}

// plainIndex answers every search with the same lines.
type plainIndex struct {
	lines     []RecallLine
	err       error
	searching func()
	forgotten []session.Key
}

func (x *plainIndex) Search(context.Context, Record, Historian, map[string]session.ToolClass, string, int) ([]RecallLine, int, bool, error) {
	if x.searching != nil {
		x.searching()
	}
	return x.lines, len(x.lines), true, x.err
}

func (x *plainIndex) Forget(key session.Key) error {
	x.forgotten = append(x.forgotten, key)
	return nil
}

func TestRecall(t *testing.T) {
	w := newTestEnv()
	w.play(t, session.Event{Kind: session.PromptSubmitted, Transcript: "/p/t.jsonl"})
	s := w.recordingService(t, nil)
	x := &plainIndex{lines: []RecallLine{{Text: "one two three"}, {Text: strings.Repeat("long ", 100)}, {Text: "four"}}}
	s.Index = x
	got, err := s.Recall(t.Context(), keyOfS, RecallQuery{Query: "one", MaxTokens: 10})
	if err != nil || len(got.Lines) != 2 || got.Omitted != 1 || got.Tokens != 4 || !got.Compacted {
		t.Errorf("within 10 tokens: %+v, %v", got, err)
	}
	for field, q := range map[string]RecallQuery{
		"query": {Query: " "}, "limit": {Query: "x", Limit: MaxRecallLines + 1}, "maxTokens": {Query: "x", MaxTokens: MaxRecallTokens + 1},
	} {
		if _, err := s.Recall(t.Context(), keyOfS, q); coded.CodeOf(err) != coded.Invalid || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := w.service().Recall(t.Context(), keyOfS, RecallQuery{Query: "x"}); coded.CodeOf(err) != coded.Invalid || !strings.Contains(err.Error(), "keeps a record") {
		t.Errorf("no record: %v", err)
	}
	x.err = fs.ErrNotExist
	if _, err := s.Recall(t.Context(), keyOfS, RecallQuery{Query: "x"}); coded.CodeOf(err) != coded.Invalid || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("a record that was removed: %v", err)
	}
	x.err, x.searching = nil, func() { clear(w.sessions) }
	if _, err := s.Recall(t.Context(), keyOfS, RecallQuery{Query: "x"}); coded.CodeOf(err) != coded.NotFound || len(x.forgotten) != 1 {
		t.Errorf("a session that is deleted meanwhile: %v, %v", x.forgotten, err)
	}
}

// What is left out of a request stays out, is counted, and comes back for good with Unprune.
func TestPruneAndUnprune(t *testing.T) {
	w := newTestEnv()
	key := session.Key{Host: session.HostOpenCode, SessionID: "s"}
	ev := w.at(session.ToolFinished, 190_000)
	ev.Host = session.HostOpenCode
	w.play(t, session.Event{Host: session.HostOpenCode, Kind: session.PromptSubmitted}, ev)
	output := strings.Repeat("the same output, line by line\\n", 2_000)
	var messages []string
	for i := range 4 {
		messages = append(messages, fmt.Sprintf(`{"info":{"role":"user"},"parts":[{"id":"u%d","type":"text","text":"look %d"}]}`, i, i),
			fmt.Sprintf(`{"info":{"role":"assistant"},"parts":[{"id":"p%d","type":"tool","tool":"bash","callID":"%d","state":{"status":"completed","input":{"command":"cat a"},"output":"%s"}}]}`, i, i, output))
	}
	req := conversation.PlanRequest{Conversation: conversation.Conversation{Messages: []byte("[" + strings.Join(messages, ",") + "]"), Model: "claude-sonnet-4-5"}}
	s := w.meteredService()
	if report, pruned, err := s.Prune(t.Context(), key, req); err != nil || len(report.Items)+len(pruned) != 0 {
		t.Errorf("while it is off: %+v, %+v, %v", report, pruned, err)
	}
	w.cfg.Prune.Enabled = true
	if report, pruned, err := s.Prune(t.Context(), session.Key{Host: session.HostOpenCode, SessionID: "none"}, req); err != nil || len(report.Items)+len(pruned) != 0 {
		t.Errorf("a session that is not stored: %+v, %+v, %v", report, pruned, err)
	}
	report, pruned, err := s.Prune(t.Context(), key, req)
	if err != nil || len(report.Items) == 0 || len(pruned) == 0 || report.FreeableTokens == 0 || w.trim.Operations != 1 {
		t.Fatalf("%+v, %+v, %v", report, pruned, err)
	}
	again, same, err := s.Prune(t.Context(), key, req)
	if err != nil || len(again.Items) != 0 || !slices.Equal(same, pruned) {
		t.Errorf("again: %+v, %+v, %v; want %+v", again, same, err, pruned)
	}
	if parts, err := s.Unprune(t.Context(), key); err != nil || parts != len(pruned) {
		t.Errorf("undone: %d parts, %v", parts, err)
	}
	if _, none, err := s.Prune(t.Context(), key, req); err != nil || len(none) != 0 {
		t.Errorf("after it was undone: %+v, %v", none, err)
	}
	if _, err := s.Unprune(t.Context(), session.Key{Host: session.HostOpenCode, SessionID: "none"}); coded.CodeOf(err) != coded.NotFound {
		t.Errorf("a session that is not stored: %v", err)
	}
}
