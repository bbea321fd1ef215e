package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"
)

// version is set by the build (-ldflags "-X main.version=…"); a plain go build uses the module version.
var version = ""

var versionCommand = command{
	name: "version", synopsis: "[--json]", short: "print the version", examples: "ctxls version\nctxls version --json | jq -r .version",
	setup: func(fs *pflag.FlagSet) action {
		asJSON := fs.Bool("json", false, "print JSON")
		return func(_ context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return usageError{"version takes no arguments"}
			}
			if *asJSON {
				return printJSON(a.stdout, map[string]string{"version": versionString(), "os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version()})
			}
			fmt.Fprintf(a.stdout, "ctxls %s %s/%s %s\n", versionString(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		}
	},
}

func versionString() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
