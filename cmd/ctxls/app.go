package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/core/token"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/recall"
	"github.com/ctxls/ctxls/internal/records"
	"github.com/ctxls/ctxls/internal/rpc"
	"github.com/ctxls/ctxls/internal/store"
)

// busyTimeout is how long a command waits for other processes to release the state, if no host waits for it.
const busyTimeout = 5 * time.Second

// app is the environment of a command, and what is opened on demand. Only this package reads the environment; all others get it as
// parameters.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        []string
	home, cwd      string

	configFile, statePath string // flags of every command
	interactive           bool   // a user reads standard error; servers and hooks have only the log
	reads                 bool   // the command only shows what is in the state: one that a person names must be there
	copied                bool   // the state cannot be written, and this is a copy of it
	silent                bool   // a host waits: the busy timeout is short, and the end of the process cleans up

	said    []string // problems of the settings that the user was told of
	ignored bool     // some settings have an error, so that they do not count
	loader  *config.Loader
	log     *slog.Logger
	logFile *logFile
	store   core.Store
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) { // started without an environment, or with a HOME that every directory would have its own of
		if u, err := user.Current(); err == nil {
			home = u.HomeDir
		}
	}
	cwd, _ := os.Getwd()
	return &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, environ: os.Environ(), home: home, cwd: cwd}
}

func (a *app) globalFlags(fs *pflag.FlagSet) {
	fs.StringVar(&a.configFile, "config", "", "user settings `file` to read instead of the usual one")
	fs.StringVar(&a.statePath, "state", "", "state `file` to use instead of the usual one")
}

// checkFlags validates the global flags: a settings file that is named must exist and be valid.
func (a *app) checkFlags() error {
	if scheme, _, ok := strings.Cut(a.statePath, "://"); ok {
		return usageError{fmt.Sprintf("--state: no store of the kind %q; want a file", text.Sanitize(scheme, 40))}
	}
	if a.configFile == "" {
		return nil
	}
	for _, p := range config.CheckFile(a.configFile) {
		if !p.Warning {
			return fmt.Errorf("--config: %s", p)
		}
	}
	return nil
}

// userConfig returns the path of the user's settings.
func (a *app) userConfig() string {
	return cmp.Or(a.configFile, config.UserFile(runtime.GOOS, a.getenv, a.home))
}

// sources returns where settings come from, for the workspace of a directory.
func (a *app) sources(cwd string) config.Sources {
	flags := map[string]string{}
	if a.statePath != "" {
		flags["store.path"] = a.expandHome(strings.TrimPrefix(a.statePath, "sqlite:"))
		if !filepath.IsAbs(flags["store.path"]) {
			flags["store.path"] = filepath.Join(a.cwd, flags["store.path"])
		}
	}
	return config.Sources{UserFile: a.userConfig(), CWD: cwd, Home: a.home, Env: a.environ, Flags: flags}
}

// storePath returns the path of the state under the given settings.
func (a *app) storePath(cfg settings.Config) string {
	return cmp.Or(a.expandHome(cfg.Store.Path), store.DefaultPath(runtime.GOOS, a.getenv, a.home))
}

// usualState reports whether the state is at its default path.
func (a *app) usualState(cfg settings.Config) bool {
	return a.storePath(cfg) == store.DefaultPath(runtime.GOOS, a.getenv, a.home)
}

// expandHome returns a path from the settings with the home directory in place of a leading ~.
func (a *app) expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(a.home, rest)
	}
	return path
}

// settings returns the settings for a directory; "" is the current one. Problems are logged when the settings are first read.
func (a *app) settings(cwd string) settings.Config {
	if a.loader == nil {
		a.loader = config.NewLoader(a.sources(""))
	}
	cfg, problems := a.loader.For(cmp.Or(cwd, a.cwd))
	if a.log == nil {
		a.openLog(cfg)
	}
	for _, p := range problems {
		if !a.interactive && a.logFile.saidLately(p.String(), time.Now()) { // three hooks run for a prompt, and each reads the settings
			continue
		}
		if p.Warning {
			a.log.Warn("settings", "problem", p.String())
			if a.interactive && a.once(p.String()) {
				fmt.Fprintf(a.stderr, "ctxls: %s\n", p)
			}
		} else {
			a.ignored = true
			a.log.Error("settings ignored", "problem", p.String())
			if a.interactive && a.once(p.String()) {
				fmt.Fprintf(a.stderr, "ctxls: settings ignored: %s\nctxls: hint: 'ctxls config check' shows what is allowed\n", p)
			}
		}
	}
	return cfg
}

// once reports whether a problem was not said before. Each session's directory has settings of its own, with the same problems of
// the user's.
func (a *app) once(problem string) bool {
	if slices.Contains(a.said, problem) {
		return false
	}
	a.said = append(a.said, problem)
	return true
}

// openLog creates the log. Its file is opened at the first line.
func (a *app) openLog(cfg settings.Config) {
	a.logFile = &logFile{path: a.logPath(cfg), fallback: a.stderr}
	if a.interactive { // standard error says what matters to a user
		a.logFile.fallback = io.Discard
	}
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Log.Level)) // one of four words, which config has checked
	a.log = slog.New(slog.NewTextHandler(a.logFile, &slog.HandlerOptions{Level: level}))
}

// logPath returns the path of the log under the given settings; the default is beside the state.
func (a *app) logPath(cfg settings.Config) string {
	return cmp.Or(a.expandHome(cfg.Log.Path), filepath.Join(filepath.Dir(a.storePath(cfg)), "ctxls.log"))
}

// service returns the service over the settings, the state and every host's adapter.
func (a *app) service(ctx context.Context) (*core.Service, error) {
	cfg := a.settings("")
	busy := busyTimeout
	if a.silent {
		busy = a.hookWait() * 3 / 5 // part of the time of a hook
	}
	s, err := a.openStore(ctx, store.Options{URL: a.storePath(cfg), BusyTimeout: busy, Fleeting: a.silent,
		Usual: a.usualState(cfg), MustExist: a.reads && a.statePath != "", Report: func(what string) {
			a.log.Warn(what)
			if a.interactive {
				fmt.Fprintf(a.stderr, "ctxls: %s\n", what)
			}
		}})
	if err != nil {
		return nil, err
	}
	a.store = s
	counter, err := token.Get(session.Encoding)
	if err != nil {
		return nil, err
	}
	place := a.storePath(cfg)
	if copied, ok := s.(interface{ Path() string }); ok && a.copied {
		place = copied.Path()
	}
	index := recall.New(filepath.Join(filepath.Dir(place), "recall"))
	return &core.Service{Store: s, Adapters: registry.Adapters(a.getenv), Config: a.settings, Now: time.Now, DirExists: dirExists, ProcessLives: rpc.ProcessLives,
		RealPath: filepath.EvalSymlinks, Counter: counter, Meter: newMeter(func(int) {}), Log: a.log,
		Historian: a.historian, Index: index, Asks: a.asks, Tally: a.tally,
		Forgotten: func(key session.Key) {
			a.logFile.forget(key.SessionID)
			if err := index.Forget(key); err != nil {
				a.log.Error("index not removed", "error", err)
			}
		}}, nil
}

// openStore opens the state. A command that only reads shows what it can where the state cannot be written.
func (a *app) openStore(ctx context.Context, o store.Options) (core.Store, error) {
	s, err := store.Open(ctx, o)
	if err == nil || !store.Unwritable(err) {
		return s, err
	}
	const hint = "'ctxls doctor' says which file; --state FILE or CTXLS_STORE_PATH names another place"
	if a.reads {
		if s, copyErr := store.OpenCopy(ctx, o); copyErr == nil {
			a.copied = true
			fail(a.stderr, hintError{fmt.Errorf("%w; what can be read is shown, and nothing is stored", err), hint})
			return s, nil
		}
	}
	return nil, hintError{err, hint}
}

// historian returns what reads the records of a host back, nil where the host keeps none.
func (a *app) historian(name session.Host) core.Historian {
	h, _ := registry.Find(name)
	if h.Records == nil {
		return nil
	}
	historian, _ := h.Records(a.env()).(core.Historian)
	return historian
}

// asks reports whether ctxls is installed as an MCP server of a host.
func (a *app) asks(name session.Host) bool {
	h, _ := registry.Find(name)
	return h.Installer != nil && len(h.Installer.Servers(a.env())) > 0
}

// env returns the environment in which hosts look for their settings.
func (a *app) env() host.Env { return host.Env{Getenv: a.getenv, Home: a.home, CWD: a.cwd} }

// discover has a service show the sessions that hosts keep on the disk, too. A brief one leaves out working sets.
func (a *app) discover(s *core.Service, brief bool) *records.Store {
	seen := records.Over(s.Store, records.Options{
		Recorders: a.recorders(), Rules: func(host session.Host) session.Rules { return s.Adapters[host].Rules() },
		Prepare: s.Count, Config: s.Config, Now: s.Now, Brief: brief, Budget: listBudget,
	})
	s.Seen = seen
	return seen
}

// recorders returns what finds the records of hosts, as far as the user's settings allow it.
func (a *app) recorders() []core.Recorder {
	cfg := a.settings("").Discovery
	for _, name := range cfg.Names() {
		if err := registry.Check(session.Host(name)); err != nil {
			a.log.Warn("settings", "problem", "discovery.hosts: "+err.Error())
		}
	}
	return slices.DeleteFunc(registry.Recorders(a.env()), func(r core.Recorder) bool { return !cfg.Reads(string(r.Host())) })
}

// listBudget bounds how long a list of sessions reads records that are on the disk.
const listBudget = 250 * time.Millisecond

func (a *app) close() {
	if a.store != nil {
		_ = a.store.Close() // loses nothing: updates are durable when they are acknowledged
	}
	if a.logFile != nil {
		a.logFile.close()
	}
}

// closeGrace is how long a hook may take to close its files. Acknowledged updates are safe without that.
const closeGrace = 100 * time.Millisecond

// closeWithin calls close, and stops waiting for it after grace.
func (a *app) closeWithin(grace time.Duration) {
	closed := make(chan struct{})
	go func() {
		a.close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(grace):
	}
}

func dirExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
