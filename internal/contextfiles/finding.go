package contextfiles

import (
	"github.com/ctxls/ctxls/internal/core/session"
)

// Code names a kind of defect.
type Code string

// The codes of findings. docs/context-files.md has a section for each.
const (
	ImportMissing     Code = "import-missing"
	ImportPunctuation Code = "import-punctuation"
	ImportTooDeep     Code = "import-too-deep"
	ImportCircular    Code = "import-circular"
	ImportOutside     Code = "import-outside"
	ImportKind        Code = "import-kind"
	LoadedTwice       Code = "loaded-twice"
	FileCut           Code = "file-cut"
	FileDropped       Code = "file-dropped"
	FileTooLarge      Code = "file-too-large"
	FileUnreadable    Code = "file-unreadable"
	DescriptionCut    Code = "description-cut"
	DescriptionNone   Code = "description-missing"
	ListingOverBudget Code = "listing-over-budget"
	RuleMatchesNone   Code = "rule-matches-nothing"
	FrontmatterUnread Code = "frontmatter-unread"
)

// Finding is a defect: something that a person wrote and a host does not load as it is meant. A size alone is none.
type Finding struct {
	Code    Code
	Host    session.Host
	Path    string
	Start   int // offset in bytes where it begins in the file
	End     int // and where it ends; equal to Start where the file as a whole is meant
	Message string
	Fix     *Fix // nil where no change is safe
}

// Fix is a change of a file's text that removes a defect and changes nothing else.
type Fix struct {
	Title      string
	Start, End int // offsets in bytes
	NewText    string
}
