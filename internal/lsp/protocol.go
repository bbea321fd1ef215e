package lsp

// The types of the Language Server Protocol 3.17, as far as they are used:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/

// Position is a place in a document: line and column from 0, columns in units of UTF-16.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a part of a document.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// TextDocument names a document, and its version where the protocol has one.
type TextDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version,omitzero"`
	Text    string `json:"text,omitzero"` // in didOpen alone
}

// DocumentParams are those of requests about a whole document.
type DocumentParams struct {
	TextDocument TextDocument `json:"textDocument"`
}

// PositionParams are those of requests about a place.
type PositionParams struct {
	TextDocument TextDocument `json:"textDocument"`
	Position     Position     `json:"position"`
}

// RangeParams are those of requests about a part.
type RangeParams struct {
	TextDocument TextDocument `json:"textDocument"`
	Range        Range        `json:"range"`
}

// Change is a change of a document: of a range, or of all of it where there is none.
type Change struct {
	Range *Range `json:"range"`
	Text  string `json:"text"`
}

// ChangeParams are those of textDocument/didChange.
type ChangeParams struct {
	TextDocument   TextDocument `json:"textDocument"`
	ContentChanges []Change     `json:"contentChanges"`
}

// Command is what a client runs when a user chooses it.
type Command struct {
	Title     string `json:"title"`
	Command   string `json:"command"`
	Arguments []any  `json:"arguments,omitzero"`
}

// CodeLens is a line above a line.
type CodeLens struct {
	Range   Range   `json:"range"`
	Command Command `json:"command"`
}

// Markup is text in Markdown.
type Markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// Hover is what is known of a place.
type Hover struct {
	Contents Markup `json:"contents"`
	Range    *Range `json:"range,omitzero"`
}

// InlayHint is a text within a line.
type InlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	PaddingLeft bool     `json:"paddingLeft"`
	Tooltip     string   `json:"tooltip,omitzero"`
}

// DocumentLink is a part that leads elsewhere.
type DocumentLink struct {
	Range  Range  `json:"range"`
	Target string `json:"target"`
}

// DocumentSymbol is a heading.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children,omitzero"`
}

// Diagnostic is a defect.
type Diagnostic struct {
	Range           Range            `json:"range"`
	Severity        int              `json:"severity"`
	Code            string           `json:"code"`
	CodeDescription *CodeDescription `json:"codeDescription,omitzero"`
	Source          string           `json:"source"`
	Message         string           `json:"message"`
}

// CodeDescription says where a code is explained.
type CodeDescription struct {
	Href string `json:"href"`
}

// DiagnosticReport is the result of textDocument/diagnostic.
type DiagnosticReport struct {
	Kind  string       `json:"kind"` // always "full"
	Items []Diagnostic `json:"items"`
}

// PublishParams are those of textDocument/publishDiagnostics.
type PublishParams struct {
	URI         string       `json:"uri"`
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// CodeAction is a change that removes a defect.
type CodeAction struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind"`
	Diagnostics []Diagnostic `json:"diagnostics"`
	IsPreferred bool         `json:"isPreferred"`
	Edit        Edit         `json:"edit"`
}

// Edit changes documents.
type Edit struct {
	Changes map[string][]TextEdit `json:"changes"`
}

// TextEdit replaces a range.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}
