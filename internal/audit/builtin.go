package audit

import (
	"github.com/ctxls/ctxls/internal/core/session"
)

// measured is the size of a part as it was sent once.
type measured struct {
	name, where   string
	tokens, bytes int
}

// tables hold what each host sends beside files, as captured on 2026-11-22 from contextfiles.Versions and counted in cl100k. They
// hold no MCP server's tools, and no skills, agents or memory, which files tell.
var tables = map[session.Host][]measured{
	session.HostClaudeCode: {
		{"system prompt", "the system prompt", 5956, 28_502},
		{"built-in tools", "the list of tools", 10_639, 47_252},
		{"environment, model, date, Git state, deferred tools", "reminders in the first user message", 667, 2741},
	},
	session.HostOpenCode: {
		{"system prompt", "the system prompt", 1875, 8902},
		{"built-in tools", "the list of tools", 4885, 21_914},
	},
	session.HostCodex: {
		{"system prompt", "a developer message", 3544, 17_119},
		{"built-in tools", "the list of tools", 4470, 21_548},
		{"permissions and environment", "messages before the first prompt", 177, 733},
	},
	session.HostGeminiCLI: {
		{"system prompt", "the system prompt", 4534, 22_090},
		{"built-in tools", "the list of tools", 5082, 23_710},
		{"environment and directory tree", "the first user message", 496, 1697},
	},
}

// listing is what a listing holds beside the lines of files: tokens and bytes that are added to theirs, and the whole listing where
// there are no lines of files.
type listing struct{ tokens, bytes, empty, emptyBytes int }

// listings are from the same captures as tables.
var listings = map[session.Host]map[string]listing{
	session.HostClaudeCode: {
		"skills": {1459, 6235, 1481, 6336},
		"agents": {350, 1669, 391, 1882},
	},
	session.HostCodex: {
		"skills": {563, 2327, 481, 2138},
	},
}

// windows are the windows in tokens that the hosts use unless they are told otherwise; none is known of OpenCode, which serves any
// model.
var windows = map[session.Host]int{session.HostClaudeCode: 200_000, session.HostCodex: 258_400, session.HostGeminiCLI: 1_048_576}

// builtins returns what a host sends that no file of the user tells: from its own record of a request where there is one, else from
// the tables.
func builtins(host session.Host, recorded *session.RequestRecord, count func(string) int) (parts []AuditPart) {
	rows := tables[host]
	if recorded != nil {
		parts = append(parts, recordedParts(recorded, count)...)
	}
	for _, row := range rows {
		if recorded != nil && (row.name == "system prompt" || row.name == "built-in tools") {
			continue
		}
		tokens, bytes := row.tokens, row.bytes
		parts = append(parts, AuditPart{Name: row.name, Where: row.where, Tokens: &tokens, Bytes: &bytes, Basis: BasisTable, Items: []AuditItem{}})
	}
	return parts
}

// recordedParts counts what a record of a request holds: system prompt, built-in tools, and the tools of each MCP server.
func recordedParts(r *session.RequestRecord, count func(string) int) (parts []AuditPart) {
	add := func(name, where string, texts []string, items []AuditItem) {
		tokens, bytes := 0, 0
		for _, s := range texts {
			tokens += count(s)
			bytes += len(s)
		}
		parts = append(parts, AuditPart{Name: name, Where: where, Tokens: &tokens, Bytes: &bytes, Basis: BasisRecord, Items: items})
	}
	add("system prompt", "the system prompt", r.System, []AuditItem{})
	texts, items, servers := map[string][]string{}, map[string][]AuditItem{}, []string{"built-in tools"}
	for _, tool := range r.Tools {
		group := "built-in tools"
		if server := tool.Group(); server != "" {
			group = "tools of " + server
			if texts[group] == nil {
				servers = append(servers, group)
			}
		}
		texts[group] = append(texts[group], tool.JSON)
		items[group] = append(items[group], AuditItem{Kind: "tool", Name: tool.Name, When: "start", Tokens: count(tool.JSON), Bytes: len(tool.JSON), Size: int64(len(tool.JSON))})
	}
	for _, group := range servers {
		list := items[group]
		sortItems(list)
		add(group, "the list of tools", texts[group], list)
	}
	return parts
}
