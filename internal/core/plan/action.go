package plan

import (
	"strings"

	"github.com/ctxls/ctxls/internal/jsonscan"
)

// action is what a call does with files, as far as its tool's name and its input tell.
type action struct {
	verb  verb
	path  string // the file that is read or written
	key   string // the tool with its input: two calls with one key ask the same
	whole bool   // of a read: no range was asked for
}

type verb int

const (
	other verb = iota
	reads
	lists  // directories, file names, matches in files
	writes // a whole file
	edits  // a part of a file
)

// verbs maps the names that hosts and common MCP servers have for their tools, in lower case without separators.
var verbs = map[string]verb{
	"read": reads, "readfile": reads, "notebookread": reads, "view": reads, "viewfile": reads, "openfile": reads, "readtextfile": reads,
	"ls": lists, "list": lists, "listdir": lists, "listdirectory": lists, "glob": lists, "findfiles": lists, "fileglob": lists,
	"grep": lists, "grepsearch": lists, "searchfilecontent": lists, "search": lists, "codesearch": lists,
	"write": writes, "writefile": writes, "createfile": writes, "create": writes,
	"edit": edits, "multiedit": edits, "notebookedit": edits, "replace": edits, "patch": edits, "applypatch": edits, "strreplace": edits, "editfile": edits,
}

var separators = strings.NewReplacer("_", "", "-", "")

// Reads reports whether a tool, by its name, reads files.
func Reads(tool string) bool { return actionOf(tool, "{}", "").verb == reads }

// maxInput bounds the inputs that are looked into, in bytes: only those of writes are longer, and their paths stand first.
const maxInput = 1 << 20

// actionOf reads a call. path goes before what the input says.
func actionOf(tool, input, path string) action {
	name := tool
	if i := strings.LastIndex(tool, "__"); i >= 0 { // an MCP tool: mcp__server__tool
		name = tool[i:]
	}
	a := action{verb: verbs[separators.Replace(strings.ToLower(name))]}
	if a.verb == other {
		return a
	}
	if a.verb == lists || a.verb == reads {
		a.key = tool + "\x00" + input
	}
	var file, filePath, camel, notebook, absolute, dir, offset, limit, start, end, pages jsonscan.Value
	if v, err := jsonscan.Parse([]byte(input[:min(len(input), maxInput)]), nil); err == nil && v.IsObject() {
		v.Pick(
			jsonscan.Into("file_path", &filePath), jsonscan.Into("filePath", &camel), jsonscan.Into("notebook_path", &notebook),
			jsonscan.Into("absolute_path", &absolute), jsonscan.Into("path", &dir), jsonscan.Into("file", &file),
			jsonscan.Into("offset", &offset), jsonscan.Into("limit", &limit), jsonscan.Into("start_line", &start), jsonscan.Into("end_line", &end),
			jsonscan.Into("pages", &pages),
		)
	}
	a.whole = a.verb == reads
	for _, part := range []jsonscan.Value{offset, limit, start, end, pages} {
		a.whole = a.whole && !part.Present()
	}
	for _, v := range []jsonscan.Value{filePath, camel, notebook, absolute, dir, file} {
		if path == "" {
			path = v.Text()
		}
	}
	a.path = spelled(path)
	return a
}

// spelled gives the usual spellings of a path one form.
func spelled(path string) string {
	return strings.TrimPrefix(strings.ReplaceAll(path, `\`, "/"), "./")
}

// base returns the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
