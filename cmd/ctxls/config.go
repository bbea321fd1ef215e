package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/completion"

	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/ui"
)

var configCommand = command{
	name: "config", synopsis: "path | check [FILE…] | schema", short: "show where settings come from, check them, or print their schema",
	long: `
path    prints the settings files, in order (later files win), and the state and log files
check   prints every problem in the settings, with file, line and the allowed values; fails if there is an error
schema  prints the JSON Schema of a settings file`,
	examples: `ctxls config path
ctxls config check
ctxls config check .ctxls.json
ctxls config schema > ctxls.schema.json`,
	words: []string{"path", "check", "schema"},
	offers: func(_ context.Context, _ *app, o *completion.Offer, given []string) {
		switch {
		case len(given) == 0:
			o.Add("path", "print the files")
			o.Add("check", "print every problem")
			o.Add("schema", "print the JSON Schema")
		case given[0] == "check":
			o.Paths = "files"
		}
	},
	setup: func(*pflag.FlagSet) action {
		return func(_ context.Context, a *app, args []string) error {
			switch {
			case len(args) == 1 && args[0] == "path":
				return a.configPath()
			case len(args) >= 1 && args[0] == "check":
				return a.configCheck(args[1:])
			case len(args) == 1 && args[0] == "schema":
				_, err := a.stdout.Write(config.Schema())
				return err
			}
			hint := "settings are changed in a file; 'ctxls config path' shows where it is"
			if len(args) == 1 {
				hint = didYouMean(args[0], []string{"path", "check", "schema"}, "'ctxls config %s'", hint)
			}
			return hintError{usageError{"config takes one of path, check [FILE…] and schema"}, hint}
		}
	},
}

func (a *app) configPath() error {
	for _, f := range config.Files(a.sources(a.cwd)) {
		state := "not there"
		if f.Found {
			state = "found"
		}
		a.say("%-10s %s (%s)", f.Layer, f.Path, state)
	}
	cfg, _ := config.Load(a.sources(a.cwd))
	a.say("%-10s %s", "state", a.storePath(cfg))
	a.say("%-10s %s", "log", a.logPath(cfg))
	return nil
}

// configCheck checks the named files, or else all settings used here.
func (a *app) configCheck(files []string) error {
	var problems []config.Problem
	if len(files) == 0 {
		_, problems = config.Load(a.sources(a.cwd))
	}
	for _, file := range files {
		problems = append(problems, config.CheckFile(file)...)
	}
	errors := 0
	for _, p := range problems {
		fmt.Fprintln(a.stderr, "ctxls:", p)
		if !p.Warning {
			errors++
		}
	}
	if errors > 0 {
		return hintError{fmt.Errorf("%s in the settings", ui.Count(errors, "problem")), "the whole file is ignored until this is fixed"}
	}
	if len(problems) == 0 {
		fmt.Fprintln(a.stdout, "settings are fine")
	}
	return nil
}
