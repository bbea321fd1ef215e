package claudecode

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/model"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host/transcript"
)

// AgentRows is what Claude Code passes to the command of its setting subagentStatusLine: the sub-agents that it lists below the prompt.
type AgentRows struct {
	Key     session.Key
	CWD     string
	Columns int // the width of a row in characters; 0 is unknown
	Rows    []AgentRow
}

// AgentRow is one of them.
type AgentRow struct {
	Label string // what the host calls it
	Agent session.Agent
}

// DecodeAgents reads the payload of subagentStatusLine. It leaves out background tasks that have no window, since those are no
// agents. tokenCount is what the last request held with its answer; 0 is before the first response, and unknown here. A payload
// without session_id is an error with coded.Invalid.
func DecodeAgents(data []byte) (rows AgentRows, err error) {
	var id, cwd, columns, tasks []byte
	err = transcript.Payload(data, transcript.Field{Name: "session_id", Value: &id}, transcript.Field{Name: "cwd", Value: &cwd},
		transcript.Field{Name: "columns", Value: &columns}, transcript.Field{Name: "tasks", Value: &tasks})
	if err != nil {
		return rows, err
	}
	rows.Key = session.Key{Host: Name, SessionID: transcript.String(id)}
	rows.CWD, rows.Columns = transcript.String(cwd), transcript.Int(columns)
	if rows.Key.SessionID == "" {
		return rows, coded.Field("session_id", "want a string that is not empty")
	}
	transcript.Elements(tasks, func(task []byte) bool {
		if row, ok := agentRow(task); ok && len(rows.Rows) < session.MaxAgents {
			rows.Rows = append(rows.Rows, row)
		}
		return true
	})
	return rows, nil
}

func agentRow(task []byte) (row AgentRow, ok bool) {
	var id, kind, label, name, modelID, window, tokens []byte
	transcript.Pick(task, transcript.Field{Name: "id", Value: &id}, transcript.Field{Name: "agentType", Value: &kind},
		transcript.Field{Name: "label", Value: &label}, transcript.Field{Name: "name", Value: &name}, transcript.Field{Name: "model", Value: &modelID},
		transcript.Field{Name: "contextWindowSize", Value: &window}, transcript.Field{Name: "tokenCount", Value: &tokens})
	a := session.Agent{AgentID: transcript.String(id), AgentType: transcript.String(kind), Model: transcript.String(modelID), Limits: model.Limits{WindowTokens: transcript.Int(window)}}
	if n := transcript.Int(tokens); n > 0 {
		a.Gauge = session.Gauge{Known: true, Tokens: n, Provenance: session.ProvenanceHost}
	}
	row = AgentRow{Label: transcript.String(label), Agent: a}
	for _, instead := range []string{transcript.String(name), a.AgentType} {
		if row.Label == "" {
			row.Label = instead
		}
	}
	return row, a.AgentID != "" && a.Limits.WindowTokens > 0
}

// EncodeAgents writes what Claude Code shows instead of its own rows: one JSON object a line, by the ids of the sub-agents.
func EncodeAgents(rows []AgentRow, contents []string) (string, error) {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for i, row := range rows {
		line := struct {
			ID      string `json:"id"`
			Content string `json:"content"`
		}{row.Agent.AgentID, contents[i]}
		if err := enc.Encode(line); err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// Cache is what the payload of a status line states of the prompt cache. The zero value is unknown.
type Cache struct {
	ExpiresAt  time.Time     // when it goes cold unless it is used; the beginning of time where it is cold
	Lifetime   time.Duration // by the ttl of the last request; 5 minutes where it is not stated
	ColdTokens int           // what a request costs in cache writes once the cache is cold
}

// DecodeCache reads prompt_cache of a status line's payload. It is absent before the first response, and in versions before 2.1.329
// it may be.
func DecodeCache(data []byte) (c Cache) {
	var cache, warm, ttl, expires, cold []byte
	transcript.Pick(data, transcript.Field{Name: "prompt_cache", Value: &cache})
	if !transcript.Pick(cache, transcript.Field{Name: "warm", Value: &warm}, transcript.Field{Name: "ttl", Value: &ttl},
		transcript.Field{Name: "expires_at", Value: &expires}, transcript.Field{Name: "recache_tokens_if_cold", Value: &cold}) {
		return c
	}
	c.ColdTokens, c.Lifetime = transcript.Int(cold), 5*time.Minute
	if d, err := time.ParseDuration(transcript.String(ttl)); err == nil && d > 0 {
		c.Lifetime = d
	}
	switch n := transcript.Int(expires); {
	case string(warm) == "false":
		c.ExpiresAt = time.Unix(0, 0)
	case n > 0:
		c.ExpiresAt = time.Unix(int64(n), 0)
	}
	return c
}
