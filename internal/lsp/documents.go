package lsp

import (
	"cmp"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/audit"
	"github.com/ctxls/ctxls/internal/contextfiles"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/pathname"
	"github.com/ctxls/ctxls/internal/core/session"
)

// Options are what a Service needs from outside.
type Options struct {
	Home   string
	Getenv func(string) string
	Files  contextfiles.FS // nil is the disk
	// Folders returns the client's workspace folders as paths.
	Folders func() []string
}

// Service answers requests about the documents that a client has open. It is safe for many goroutines.
type Service struct {
	options Options
	files   *contextfiles.Reader
	counts  *audit.Counts

	mu       sync.Mutex
	open     map[string]*document // by path
	revision int                  // rises with every change of a document
	audits   map[string]*kept     // by directory
}

// document is one that the client has open.
type document struct {
	uri  string
	text []byte
}

// kept is an audit with what it was made of.
type kept struct {
	mu       sync.Mutex
	revision int
	at       time.Time
	report   *audit.AuditReport
	env      contextfiles.Env
}

// fresh is how long an audit counts that no document has changed since. Files on the disk may have changed without a word.
const fresh = time.Second

// New returns a service without documents.
func New(o Options) *Service {
	if o.Files == nil {
		o.Files = contextfiles.Disk{}
	}
	return &Service{options: o, files: contextfiles.NewReader(o.Files), counts: audit.NewCounts(), open: map[string]*document{}, audits: map[string]*kept{}}
}

// pathOf returns the path of a document; "" for one that is no file, such as a new document, of which nothing is known.
func pathOf(uri string) (string, error) {
	if scheme, _, ok := strings.Cut(uri, ":"); ok && !strings.EqualFold(scheme, "file") {
		return "", nil
	}
	path, err := pathname.OfURI(uri)
	if err != nil {
		return "", coded.Field("textDocument.uri", "%w", err)
	}
	return filepath.Clean(path), nil
}

// Open takes the content of a document from the client.
func (s *Service) Open(p *DocumentParams) error {
	path, err := pathOf(p.TextDocument.URI)
	if path == "" || err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[path] = &document{uri: p.TextDocument.URI, text: []byte(p.TextDocument.Text)}
	s.revision++
	return nil
}

// Change applies changes in their order. A document that is not open is an error.
func (s *Service) Change(p *ChangeParams) error {
	path, err := pathOf(p.TextDocument.URI)
	if path == "" || err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := s.open[path]
	if doc == nil {
		return coded.Field("textDocument.uri", "the document is not open")
	}
	text := string(doc.text)
	for _, change := range p.ContentChanges {
		if change.Range == nil {
			text = change.Text
			continue
		}
		start := contextfiles.Offset(text, change.Range.Start.Line, change.Range.Start.Character)
		end := max(contextfiles.Offset(text, change.Range.End.Line, change.Range.End.Character), start)
		text = text[:start] + change.Text + text[end:]
	}
	s.open[path] = &document{uri: doc.uri, text: []byte(text)} // an audit may be reading the old one
	s.revision++
	return nil
}

// Close forgets a document; its file on the disk counts again.
func (s *Service) Close(p *DocumentParams) error {
	path, err := pathOf(p.TextDocument.URI)
	if path == "" || err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, path)
	s.revision++
	return nil
}

// Touch says that files on the disk have changed.
func (s *Service) Touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
}

// URIs returns the documents that are open, as the client spelled them.
func (s *Service) URIs() (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, doc := range s.open {
		uris = append(uris, doc.uri)
	}
	return uris
}

// about is what the requests about a document are answered from.
type about struct {
	path, uri, text string
	report          *audit.AuditReport
	env             contextfiles.Env
	below           bool // a session that starts in the folder does not load the file at the start
}

// look returns what is known of a document. It is nil for one that no host loads and that is none by its name.
func (s *Service) look(uri string) (*about, error) {
	path, err := pathOf(uri)
	if path == "" || err != nil {
		return nil, err
	}
	dir := s.folder(path)
	k, err := s.audit(dir)
	if err != nil {
		return nil, err
	}
	a := &about{path: path, uri: uri, report: k.report, env: k.env}
	if !a.isLoaded() {
		if !contextfiles.IsContextFile(path) {
			return nil, nil
		}
		if own := projectOf(path); own != dir {
			if k, err = s.audit(own); err != nil {
				return nil, err
			}
			a.report, a.env, a.below = k.report, k.env, true
		}
	}
	a.text = a.env.Files.Text(path)
	return a, nil
}

// folder returns where a session would start that concerns a file: the client's folder that holds it, else its project.
func (s *Service) folder(path string) string {
	best := ""
	folders := s.options.Folders()
	for _, folder := range folders {
		if pathname.InFolders([]string{folder}, filepath.Dir(path)) && len(folder) > len(best) {
			best = folder
		}
	}
	if best == "" && len(folders) > 0 && strings.HasPrefix(path, s.options.Home+string(filepath.Separator)+".") { // a file of the user
		best = folders[0]
	}
	return filepath.Clean(cmp.Or(best, projectOf(path)))
}

// projectOf returns the directory that a context file is about.
func projectOf(path string) string {
	if own := strings.LastIndex(path, string(filepath.Separator)+".claude"+string(filepath.Separator)); own > 0 {
		return path[:own]
	}
	return filepath.Dir(path)
}

// audit returns the audit of a directory with the documents as they are now.
func (s *Service) audit(dir string) (*kept, error) {
	s.mu.Lock()
	k := s.audits[dir]
	if k == nil {
		if len(s.audits) > 50 { // an editor has few folders
			clear(s.audits)
		}
		k = &kept{}
		s.audits[dir] = k
	}
	revision, buffers := s.revision, make(map[string][]byte, len(s.open))
	for path, doc := range s.open {
		buffers[path] = doc.text
	}
	s.mu.Unlock()

	k.mu.Lock()
	defer k.mu.Unlock()
	if k.report != nil && k.revision == revision && time.Since(k.at) < fresh {
		return &kept{report: k.report, env: k.env}, nil
	}
	env := contextfiles.Env{Files: s.files.Over(contextfiles.Overlay{FS: s.options.Files, Buffers: maps.Clone(buffers)}), Home: s.options.Home, Dir: dir, Getenv: s.options.Getenv}
	report, err := audit.Run(audit.Options{Env: env, Hosts: contextfiles.Installed(env), Counts: s.counts})
	if err != nil {
		return nil, err
	}
	k.report, k.env, k.revision, k.at = report, env, revision, time.Now()
	return &kept{report: report, env: env}, nil
}

// share is a file's place in what one host loads.
type share struct {
	host audit.HostAudit
	part audit.AuditPart
	item audit.AuditItem
}

// shares returns the places of a file in all hosts, in their order: what is loaded at the start, or later.
func (a *about) shares(path string) (all []share) {
	for _, h := range a.report.Hosts {
		for _, p := range h.Parts {
			if item := find(p.Items, path); item != nil {
				all = append(all, share{h, p, *item})
				break
			}
		}
	}
	return all
}

// find returns the first item of a file that is loaded; one that is not, where there is no other.
func find(items []audit.AuditItem, path string) (found *audit.AuditItem) {
	for i := range items {
		item := &items[i]
		if item.Path == path && (found == nil || found.When == contextfiles.Never) {
			found = item
		}
		if below := find(item.Items, path); below != nil && (found == nil || found.When == contextfiles.Never && below.When != contextfiles.Never) {
			found = below
		}
	}
	return found
}

// isLoaded reports whether any host loads the file.
func (a *about) isLoaded() bool {
	for _, s := range a.shares(a.path) {
		if s.item.When != contextfiles.Never {
			return true
		}
	}
	return false
}

// importer returns the host whose grammar of imports counts for a file: the first that loads it and follows imports.
func (a *about) importer() (session.Host, bool) {
	for _, s := range a.shares(a.path) {
		if h := s.host.Host; s.item.When != contextfiles.Never && (h == session.HostClaudeCode || h == session.HostGeminiCLI) {
			return h, true
		}
	}
	return "", false
}
