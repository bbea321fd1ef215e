package config

import (
	"os"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// Loader keeps the settings of many directories for a process that lives long, and notices when a file changes. It is
// safe for concurrent use.
type Loader struct {
	mu      sync.Mutex
	sources Sources
	cache   map[string]cached // by directory
}

// cached is the settings of a directory and the files as they were before they were read.
type cached struct {
	config settings.Config
	files  []stamp
}

// maxCached bounds the directories that are remembered. Beyond it all are forgotten, and read again as they come.
const maxCached = 256

// NewLoader returns a Loader of the sources, whose CWD does not matter.
func NewLoader(s Sources) *Loader {
	return &Loader{sources: s, cache: map[string]cached{}}
}

// For returns the settings for the directory cwd, with the problems met if files had to be read to know them; from
// memory there are none, so that a caller who logs them logs them once. The settings are shared: do not modify what they
// point to.
func (l *Loader) For(cwd string) (settings.Config, []Problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sources
	s.CWD = cwd
	now := stamps(s)
	if c, ok := l.cache[cwd]; ok && same(c.files, now) {
		return c.config, nil
	}
	config, problems := Load(s)
	if len(l.cache) >= maxCached {
		clear(l.cache)
	}
	l.cache[cwd] = cached{config, now}
	return config, problems
}

// SetClient replaces what the editor sent, for all directories, and returns the problems that it has by
// itself; For returns those again. An overlay without JSON takes the last one back.
func (l *Loader) SetClient(o Overlay) []Problem {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources.Client = o
	clear(l.cache)
	if layer := o.layer(); layer != nil {
		return layer.problems
	}
	return nil
}

// A stamp is what a file looked like.
type stamp struct {
	path string
	info os.FileInfo // nil: not there
	at   time.Time   // when it was looked at
}

// stamps looks at the files that count.
func stamps(s Sources) []stamp {
	var all []stamp
	for _, f := range Files(s) {
		info, _ := os.Stat(f.Path)
		all = append(all, stamp{f.Path, info, time.Now()})
	}
	return all
}

// same reports whether the files are certainly what they were.
func same(before, now []stamp) bool {
	if len(before) != len(now) {
		return false
	}
	for i := range before {
		if !before[i].same(now[i]) {
			return false
		}
	}
	return true
}

// settled is how old a file must have been when it was read for its time to tell a later change: FAT keeps times to two
// seconds, the coarsest of the file systems in use.
const settled = 2 * time.Second

// same reports whether the file is certainly what it was.
func (s stamp) same(now stamp) bool {
	if s.path != now.path || s.info == nil || now.info == nil {
		return s.path == now.path && s.info == nil && now.info == nil
	}
	return os.SameFile(s.info, now.info) && s.info.Size() == now.info.Size() && s.info.ModTime().Equal(now.info.ModTime()) &&
		s.at.Sub(s.info.ModTime()) > settled
}
