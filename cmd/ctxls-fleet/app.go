package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/settings"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/rpc"
	"github.com/ctxls/ctxls/internal/store"
	"github.com/ctxls/ctxls/internal/team/postgres"
	"github.com/ctxls/ctxls/internal/team/push"
)

// version is set by the build (-ldflags "-X main.version=…").
var version = ""

func versionString() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// app is what a command runs in. Only this package looks at the environment.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	home           string
	configFile     string
	statePath      string

	log    *slog.Logger
	opened *state
	loader *config.Loader
	toShut []func()
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	home, _ := os.UserHomeDir()
	return &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, home: home, log: slog.New(slog.NewTextHandler(stderr, nil))}
}

func (a *app) globalFlags(fs *pflag.FlagSet) {
	fs.StringVar(&a.configFile, "config", "", "user settings `file` to read instead of the usual one")
	fs.StringVar(&a.statePath, "state", "", "state `file` of ctxls to read instead of the usual one")
}

func (a *app) close() {
	for _, shut := range a.toShut {
		shut()
	}
}

// settings returns the settings of ctxls that are in force for a directory.
func (a *app) settings(cwd string) settings.Config {
	if a.loader == nil {
		a.loader = config.NewLoader(config.Sources{UserFile: cmp.Or(a.configFile, config.UserFile(runtime.GOOS, a.getenv, a.home)), Home: a.home, Env: os.Environ()})
	}
	cfg, problems := a.loader.For(cwd)
	for _, p := range problems {
		a.log.Warn("settings", "problem", p.String())
	}
	return cfg
}

// state is the state of ctxls on this machine, and the directory that it lies in.
type state struct {
	push.Local
	dir string
}

// state opens the state of ctxls on this machine.
func (a *app) state(ctx context.Context) (*state, error) {
	if a.opened != nil {
		return a.opened, nil
	}
	path := cmp.Or(a.statePath, a.settings("").Store.Path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(a.home, rest)
	}
	path = cmp.Or(path, store.DefaultPath(runtime.GOOS, a.getenv, a.home))
	s, err := store.Open(ctx, store.Options{URL: path, Report: func(what string) { a.log.Warn(what) }})
	if err != nil {
		return nil, err
	}
	a.toShut = append(a.toShut, func() { _ = s.Close() })
	archive, ok := s.(core.Archive)
	if !ok {
		return nil, fmt.Errorf("the state in %s cannot be copied", text.Sanitize(path, 0))
	}
	service := &core.Service{Store: s, Adapters: registry.Adapters(a.getenv), Config: a.settings, Now: time.Now, ProcessLives: rpc.ProcessLives, Log: a.log}
	a.opened = &state{push.Local{Service: service, Archive: archive}, filepath.Dir(path)}
	return a.opened, nil
}

// database opens the database that a flag names. A password on the command line is refused: every user of the machine could read it.
func (a *app) database(flag, url string) (*postgres.DB, error) {
	if url == "" {
		url = a.getenv("CTXLS_FLEET_DB")
	} else if postgres.HasPassword(url) {
		return nil, usageError{fmt.Sprintf("--%s holds a password, which every user of this machine can read in the list of processes; put it into ~/.pgpass or $PGPASSWORD", flag)}
	}
	db, err := postgres.Open(url)
	if err != nil {
		return nil, err
	}
	a.toShut = append(a.toShut, db.Close)
	return db, nil
}
