package contextfiles

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// maxFile is the largest memory file that Claude Code reads, and the most that is read of any file here.
const maxFile = 4 << 20

// Reader reads context files and keeps what it has parsed. It is safe for many goroutines; a file is read again only when its size
// or its time of change differ, or when a buffer has another content.
type Reader struct {
	FS
	mu   *sync.Mutex
	docs map[string]*document
	dirs *sync.Map // where links lead, by directory
}

// NewReader returns a reader of a file system.
func NewReader(files FS) *Reader {
	return &Reader{FS: files, mu: new(sync.Mutex), docs: map[string]*document{}, dirs: new(sync.Map)}
}

// Over returns a reader of another file system, usually an overlay, that shares what was parsed.
func (r *Reader) Over(files FS) *Reader {
	return &Reader{FS: files, mu: r.mu, docs: r.docs, dirs: new(sync.Map)}
}

// Resolve returns where links lead. It asks for each directory once.
func (r *Reader) Resolve(path string) (string, error) {
	if info, err := r.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return r.FS.Resolve(path)
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	real, ok := r.dirs.Load(dir)
	if !ok {
		resolved, err := r.FS.Resolve(dir)
		if err != nil {
			return "", err
		}
		real, _ = r.dirs.LoadOrStore(dir, resolved)
	}
	return filepath.Join(real.(string), filepath.Base(path)), nil
}

// document is a parsed file.
type document struct {
	stamp stamp
	size  int64
	err   error // why there is no text

	text   string // as on the disk
	front  frontmatter
	refs   []reference // imports by the grammar of Claude Code; offsets count from the beginning of text
	glued  []reference // see parsed
	claude string      // what Claude Code sends of it, not trimmed
}

// stamp tells one content of a file from another.
type stamp struct {
	size   int64
	at     time.Time
	buffer *byte // of an unsaved buffer
}

// read returns a file as it is now.
func (r *Reader) read(path string) *document {
	info, err := r.Stat(path)
	if err != nil {
		return &document{err: err}
	}
	s := stamp{size: info.Size(), at: info.ModTime()}
	var buffer []byte
	if _, ok := info.(bufferInfo); ok {
		if buffer, err = r.ReadFile(path, maxFile); err == nil && len(buffer) > 0 {
			s.buffer = &buffer[0]
		}
	}
	r.mu.Lock()
	doc := r.docs[path]
	r.mu.Unlock()
	if doc != nil && doc.stamp == s {
		return doc
	}
	doc = r.parse(path, info)
	doc.stamp = s
	r.mu.Lock()
	r.docs[path] = doc
	r.mu.Unlock()
	return doc
}

func (r *Reader) parse(path string, info fs.FileInfo) *document {
	doc := &document{size: info.Size()}
	data, err := r.ReadFile(path, maxFile)
	if err != nil {
		doc.err = err
		return doc
	}
	doc.text = string(data)
	doc.front = readFrontmatter(doc.text)
	body := data[doc.front.end:]
	markup := parseMarkdown(body)
	for _, refs := range [][]reference{markup.refs, markup.glued} {
		for i := range refs {
			refs[i].start += doc.front.end
			refs[i].end += doc.front.end
		}
	}
	doc.refs, doc.glued = markup.refs, markup.glued
	var sent strings.Builder
	at := 0
	for _, c := range markup.comments {
		sent.Write(body[at:c.start])
		at = c.end
	}
	sent.Write(body[at:])
	doc.claude = sent.String()
	if strings.Contains(string(body), "<!--") { // its parser of Markdown knows one end of a line
		doc.claude = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(doc.claude)
	}
	return doc
}
