package audit

import (
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/session"
)

// AuditReport is the audit of a directory.
type AuditReport struct {
	Dir      string      `json:"dir"`      // where the session would start
	WhatIf   []string    `json:"whatIf"`   // the changes that are assumed; [] without any
	Hosts    []HostAudit `json:"hosts"`    // those that were asked for, in the order of contextfiles.Hosts
	Findings []Finding   `json:"findings"` // defects, by path and place
}

// HostAudit is what a session of one host would hold.
type HostAudit struct {
	Host         session.Host `json:"host"`
	RulesVersion string       `json:"rulesVersion"` // the version of the host that the rules were captured from
	Tokens       int          `json:"tokens"`       // of all parts that are known
	Complete     bool         `json:"complete"`     // no part is unknown
	Exact        bool         `json:"exact"`        // the encoding is the model's, and every part is known as it is sent
	Encoding     string       `json:"encoding"`     // that tokens are counted in
	WindowTokens *int         `json:"windowTokens"` // of the model; null where it is not known
	Percent      *int         `json:"percent"`      // share of the window; null where that is not known
	Parts        []AuditPart  `json:"parts"`        // the most expensive first; those that are unknown last
}

// Basis says where a figure comes from.
type Basis string

// What figures stand on.
const (
	BasisFiles   Basis = "files"   // rendered from the files as the host does
	BasisRecord  Basis = "record"  // read in the host's own record of a request
	BasisTable   Basis = "table"   // measured once in the version of the host that rulesVersion names
	BasisUnknown Basis = "unknown" // not known; why says what is missing
	BasisServer  Basis = "server"  // asked of a running MCP server
)

// AuditPart is one block of a request.
type AuditPart struct {
	Name   string      `json:"name"`
	Where  string      `json:"where"`  // its place in the request
	Tokens *int        `json:"tokens"` // null where it is not known
	Bytes  *int        `json:"bytes"`  // as sent, in UTF-8; null where it is not known
	Basis  Basis       `json:"basis"`
	Why    string      `json:"why,omitzero"` // what the figure leaves out, or why there is none
	Items  []AuditItem `json:"items"`        // files and lines, the most expensive first
}

// AuditItem is one file's share of a part, and of what it imports.
type AuditItem struct {
	Kind   contextfiles.EntryKind `json:"kind"`
	Path   string                 `json:"path,omitzero"`
	Name   string                 `json:"name,omitzero"`
	When   contextfiles.When      `json:"when"`
	Why    string                 `json:"why,omitzero"` // it is not loaded at the start
	Order  int                    `json:"order"`        // place among the items of the request, from 1; 0 where it is not in it
	Tokens int                    `json:"tokens"`       // as sent, heading included; of a file that waits, of its text
	Bytes  int                    `json:"bytes"`        // of the file's content as sent, without heading
	Size   int64                  `json:"size"`         // of the file in bytes
	Cut    bool                   `json:"cut,omitzero"` // a cap of the host removed a part
	// Inlined says that the text stands inside that of the importing file, and counts there.
	Inlined bool        `json:"inlined,omitzero"`
	Items   []AuditItem `json:"items,omitzero"`
}

// Finding is a defect with its place as people and editors count: lines and columns from 1, columns in units of UTF-16.
type Finding struct {
	Code    contextfiles.Code `json:"code"`
	Host    session.Host      `json:"host"`
	Path    string            `json:"path"`
	Start   Place             `json:"start"`
	End     Place             `json:"end"`
	Message string            `json:"message"`
	URL     string            `json:"url"` // what the code means

	Fix *contextfiles.Fix `json:"-"`
}

// Place is a place in a text.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// URL is where the documents explain a code.
func URL(code contextfiles.Code) string {
	return "https://github.com/ctxls/ctxls/blob/main/docs/context-files.md#" + string(code)
}
