package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/ctxls/ctxls/internal/host/registry"
	"github.com/ctxls/ctxls/internal/rpc"
	"github.com/ctxls/ctxls/internal/rpc/mcp"
)

var mcpCommand = command{
	name: "mcp", short: "let an agent check its own context window: MCP on stdin and stdout",
	long: `
Speaks the Model Context Protocol on stdin and stdout until the input ends. Its tools only read: inspect_state returns how full
the caller's context window is and lists the other sessions; measure_context counts the tokens of a text or a conversation;
estimate counts files before the agent reads them; plan lists what a context no longer needs; recall searches the conversation
before the last compaction. Agent hosts start this server; docs/mcp.md explains how to add it. The log goes to stderr and to the
log file.`,
	examples: `claude mcp add ctxls -- ctxls mcp
codex mcp add ctxls -- ctxls mcp
gemini mcp add --scope user ctxls ctxls mcp
opencode mcp add ctxls -- ctxls mcp`,
	setup: func(*pflag.FlagSet) action {
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return usageError{"mcp takes no arguments"}
			}
			return a.mcp(ctx)
		}
	},
}

func (a *app) mcp(ctx context.Context) error {
	host := os.Getppid() // read first, since it changes when the host ends
	a.settings("")
	a.logFile.also = a.stderr
	s, err := a.service(ctx)
	if err != nil {
		return err
	}
	// As in serve.
	s.Adapters = registry.Adapters(nil)
	a.discover(s, false)
	return mcp.New(mcp.Options{
		Service: s, Version: versionString(), Log: a.log, Folders: workspace(a.cwd), HostPID: host,
		HostLives: func() bool { return os.Getppid() == host && rpc.ProcessLives(host) },
	}).ServeStdio(ctx)
}

// workspace returns the working directory as the folders of a workspace. The root of a file system does not count: desktop
// programs start there.
func workspace(cwd string) []string {
	if cwd == "" || filepath.Dir(cwd) == cwd {
		return nil
	}
	return []string{cwd}
}
