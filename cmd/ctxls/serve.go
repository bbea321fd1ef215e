package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/alert"
	"github.com/ctxls/ctxls/internal/config"
	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/lsp"
	"github.com/ctxls/ctxls/internal/rpc"
	"github.com/ctxls/ctxls/internal/rpc/transport"
)

var serveCommand = command{
	name: "serve", synopsis: "[--framing HOW] [--max-body BYTES]", short: "serve an editor or a script: JSON-RPC 2.0 on stdin and stdout",
	long: `
Speaks JSON-RPC 2.0 on stdin and stdout until the input ends. The first byte of the input chooses the framing: LSP's
Content-Length headers, or one message per line. An editor sends initialize, and gets notifications of changes. A script may
call a method at once. docs/protocol.md lists the methods. The log goes to the log file.
Warnings and errors go to stderr too, and with the setting log.level "debug" everything does.`,
	examples: `ctxls serve
ctxls --stdio
echo '{"jsonrpc":"2.0","id":1,"method":"session/list"}' | ctxls serve | jq .result
echo '{"jsonrpc":"2.0","id":1,"method":"context/measure","params":{"messages":[{"role":"user","content":"hello"}]}}' | ctxls serve`,
	setup: func(fs *pflag.FlagSet) action {
		framing := fs.String("framing", "auto", "`how` messages are delimited: auto, header or line")
		maxBody := fs.Int64("max-body", rpc.DefaultMaxBody, "largest message, in `bytes`")
		fs.Bool("stdio", true, "serve on stdin and stdout (always on; editors pass it)")
		return func(ctx context.Context, a *app, args []string) error {
			switch {
			case len(args) > 0:
				return usageError{"serve takes no arguments"}
			case *framing != "auto" && *framing != "header" && *framing != "line":
				return usageError{fmt.Sprintf("--framing: want auto, header or line, got %q", *framing)}
			case *maxBody < 1:
				return usageError{fmt.Sprintf("--max-body: want a number of bytes above 0, got %d", *maxBody)}
			}
			return a.serve(ctx, rpc.Options{Framing: transport.Framing(*framing), MaxBody: *maxBody, Version: versionString()})
		}
	},
}

func (a *app) serve(ctx context.Context, options rpc.Options) error {
	cfg := a.settings("")
	a.logFile.also, a.logFile.verbose = a.stderr, cfg.Log.Level == "debug"
	s, err := a.service(ctx)
	if err != nil {
		return err
	}
	// The environment says how a host is configured only in a hook, which the host started.
	s.Adapters = registry.Adapters(nil)
	a.discover(s, false)
	options.Service, options.Log, options.Configure = s, a.log, a.configure
	options.Audit = a.auditOptions
	options.Language = func(folders func() []string) *lsp.Service {
		return lsp.New(lsp.Options{Home: a.home, Getenv: a.getenv, Folders: folders})
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go alert.Run(ctx, a.alerts(s))
	// The collector runs when the heap has doubled. That of an idle server is a few megabytes, so one measured conversation would run it
	// several times. Bytes that are never touched count as heap and take no memory.
	idle := make([]byte, 12<<20)
	defer runtime.KeepAlive(idle)
	return rpc.New(options).ServeStdio(ctx)
}

// editor names the settings of an editor in messages.
const editor = "the editor's settings"

// configure applies the settings of an editor. Its error lists all problems. Valid settings count all the same, unless a problem is
// more than a warning.
func (a *app) configure(settings json.RawMessage) error {
	a.loader.SetClient(config.Overlay{Name: editor, JSON: settings})
	_, problems := a.loader.For(a.cwd) // including those of other sources
	var said []string
	for _, p := range problems {
		if p.File == editor {
			said = append(said, p.String())
		}
	}
	if said == nil {
		return nil
	}
	return coded.Errorf(coded.Invalid, "%s", strings.Join(said, "; "))
}
