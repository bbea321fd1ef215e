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
	"github.com/ctxls/ctxls/internal/rpc"
	"github.com/ctxls/ctxls/internal/store"
)

// patience is how long a command that no host waits for waits for other processes to let go of the state.
const patience = 5 * time.Second

// app is what a command runs in: the process as it was started, and what is made of it on demand. Only this package looks at
// the environment; everything else is told.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        []string
	home, cwd      string

	configFile, statePath string // flags of every command
	heard                 bool   // a person reads standard error; servers and hooks have only the log
	reads                 bool   // the command only shows what is in the state: one that a person names must be there
	silent                bool   // a host waits for the answer: others are not waited for long, and what the end of the process undoes stays

	loader  *config.Loader
	log     *slog.Logger
	logFile *logFile
	store   core.Store
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	home, err := os.UserHomeDir()
	if err != nil { // started without an environment
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

// checkFlags returns what is wrong with the flags that every command has: a file that somebody names is there and right.
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

// userConfig returns the place of the user's settings.
func (a *app) userConfig() string {
	return cmp.Or(a.configFile, config.UserFile(runtime.GOOS, a.getenv, a.home))
}

// sources says where settings come from, for the workspace of a directory.
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

// storePath returns the state's place under the given settings.
func (a *app) storePath(cfg settings.Config) string {
	return cmp.Or(a.expandHome(cfg.Store.Path), store.DefaultPath(runtime.GOOS, a.getenv, a.home))
}

// usualState reports whether the state lies where it always does if nobody names another place.
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

// settings returns the settings in force for a directory, "" standing for the current one. What is wrong with them is
// logged when they are first read.
func (a *app) settings(cwd string) settings.Config {
	if a.loader == nil {
		a.loader = config.NewLoader(a.sources(""))
	}
	cfg, problems := a.loader.For(cmp.Or(cwd, a.cwd))
	if a.log == nil {
		a.openLog(cfg)
	}
	for _, p := range problems {
		if p.Warning {
			a.log.Warn("settings", "problem", p.String())
		} else {
			a.log.Error("settings ignored", "problem", p.String())
			if a.heard {
				fmt.Fprintf(a.stderr, "ctxls: settings ignored: %s\nctxls: hint: 'ctxls config check' says what is allowed\n", p)
			}
		}
	}
	return cfg
}

// openLog makes the log, which lies beside the state. Its file is opened when something is first written to it.
func (a *app) openLog(cfg settings.Config) {
	a.logFile = &logFile{path: a.logPath(cfg), fallback: a.stderr}
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.Log.Level)) // one of four words, checked with the settings
	a.log = slog.New(slog.NewTextHandler(a.logFile, &slog.HandlerOptions{Level: level}))
}

// logPath returns the log's place under the given settings.
func (a *app) logPath(cfg settings.Config) string {
	return cmp.Or(a.expandHome(cfg.Log.Path), filepath.Join(filepath.Dir(a.storePath(cfg)), "ctxls.log"))
}

// service wires the domain: settings, the state, and every host's adapter.
func (a *app) service(ctx context.Context) (*core.Service, error) {
	cfg := a.settings("")
	busy := patience
	if a.silent {
		busy = a.hookWait() * 3 / 5 // of the time that there is, for other processes to let go of the state
	}
	s, err := store.Open(ctx, store.Options{URL: a.storePath(cfg), BusyTimeout: busy, Fleeting: a.silent,
		Usual: a.usualState(cfg), MustExist: a.reads && a.statePath != "", Report: func(what string) { a.log.Warn(what) }})
	if err != nil {
		return nil, err
	}
	a.store = s
	counter, err := token.Get(session.Encoding)
	if err != nil {
		return nil, err
	}
	return &core.Service{Store: s, Adapters: registry.Adapters(a.getenv), Config: a.settings, Now: time.Now, DirExists: dirExists, ProcessLives: rpc.ProcessLives,
		RealPath: filepath.EvalSymlinks, Counter: counter, Meter: newMeter(func(int) {}), Log: a.log}, nil
}

// env returns the environment in which hosts look for their settings.
func (a *app) env() host.Env { return host.Env{Getenv: a.getenv, Home: a.home, CWD: a.cwd} }

func (a *app) close() {
	if a.store != nil {
		_ = a.store.Close() // nothing is lost: updates are acknowledged when they are made
	}
	if a.logFile != nil {
		a.logFile.close()
	}
}

// closeGrace is how long a hook may take to close what it opened. What it acknowledged is safe without that.
const closeGrace = 100 * time.Millisecond

// closeWithin closes, and stops waiting for it after some time.
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
