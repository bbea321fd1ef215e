package config

import (
	"os"
	"sync"
	"time"

	"github.com/ctxls/ctxls/internal/core/settings"
)

// Loader caches the settings of many directories for a long-lived process, and notices changed files. It is safe for
// concurrent use.
type Loader struct {
	mu      sync.Mutex
	sources Sources
	cache   map[string]cached // by directory
}

// cached is the settings of a directory, and the stamps of the files from before they were read.
type cached struct {
	config settings.Config
	files  []stamp
}

// maxCached limits the number of cached directories. Beyond it the cache is emptied, and directories are read again on
// demand.
const maxCached = 256

// NewLoader returns a Loader of the sources. It ignores their CWD.
func NewLoader(s Sources) *Loader {
	return &Loader{sources: s, cache: map[string]cached{}}
}

// For returns the settings for the directory cwd. It returns problems only if it had to read files, so that a caller
// logs each problem once. The settings are shared: do not modify the values that they point to.
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

// SetClient replaces the editor's settings for all directories, and returns their own problems. For returns those again.
// An overlay without JSON removes the last one.
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

// A stamp identifies one version of a file.
type stamp struct {
	path string
	info os.FileInfo // nil: no file
	at   time.Time   // the time of the stat
}

// stamps returns the stamps of the files in use.
func stamps(s Sources) []stamp {
	var all []stamp
	for _, f := range Files(s) {
		info, _ := os.Stat(f.Path)
		all = append(all, stamp{f.Path, info, time.Now()})
	}
	return all
}

// same reports whether the files are certainly unchanged.
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

// settled is the minimum age of a file at its reading, so that its time reveals a later change. FAT has the coarsest
// times of the file systems in use: two seconds.
const settled = 2 * time.Second

// same reports whether the file is certainly unchanged.
func (s stamp) same(now stamp) bool {
	if s.path != now.path || s.info == nil || now.info == nil {
		return s.path == now.path && s.info == nil && now.info == nil
	}
	return os.SameFile(s.info, now.info) && s.info.Size() == now.info.Size() && s.info.ModTime().Equal(now.info.ModTime()) &&
		s.at.Sub(s.info.ModTime()) > settled
}
