// Package test tests ctxls as a whole: the structure of the tree, the documents, and the real programs.
package test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ctxls/ctxls/"

// domain stands for internal/core and every package below it.
const domain = "internal/core/..."

// allowed lists the imports of this module that each package may have. A package without an entry fails the test, so a
// new package must get one.
var allowed = map[string][]string{
	"internal/jsonscan":          {},
	"internal/core/coded":        {},
	"internal/core/text":         {},
	"internal/core/settings":     {"internal/core/text"},
	"internal/core/pathname":     {"internal/core/coded", "internal/core/text"},
	"internal/core/token":        {"internal/core/token/internal/class", "internal/core/token/internal/vocab"},
	"internal/core/conversation": {"internal/core/coded", "internal/core/plan", "internal/core/token", "internal/jsonscan"},
	"internal/core/plan":         {"internal/core/coded", "internal/core/text", "internal/jsonscan"},
	"internal/core/model":        {"internal/core/settings", "internal/core/text"},
	"internal/core/fleet":        {"internal/core/settings"},
	"internal/core/session": {"internal/core/coded", "internal/core/fleet", "internal/core/model", "internal/core/pathname",
		"internal/core/settings", "internal/core/text", "internal/core/token"},
	"internal/core/survival": {"internal/core/session", "internal/core/text"},
	"internal/core": {"internal/core/survival", "internal/core/coded", "internal/core/conversation", "internal/core/fleet", "internal/core/model", "internal/core/pathname", "internal/core/plan",
		"internal/core/session", "internal/core/settings", "internal/core/text", "internal/core/token"},
	"internal/config":          {domain},
	"internal/host/shared":     {},
	"internal/host/transcript": {domain, "internal/host/shared", "internal/jsonscan"},
	"internal/host/settings":   {domain, "internal/host/shared"},
	"internal/host/toolpath":   {domain},
	"internal/host/hosttest":   {domain, "internal/host", "internal/store/sqlite"}, // for tests alone
	"internal/host/reply":      {domain},
	"internal/host":            {"internal/check", domain, "internal/host/settings"},
	"internal/host/registry":   {domain, "internal/host"}, // and every host
	"internal/recall":          {domain},
	"internal/records":         {domain},
	"internal/store":           {domain, "internal/store/sqlite"},
	"internal/store/sqlite":    {domain},
	"internal/store/storetest": {domain},
	"internal/rpc/transport":   {domain, "internal/jsonscan"},
	"internal/lsp":             {"internal/audit", "internal/contextfiles", domain},
	"internal/rpc":             {"internal/audit", "internal/contextfiles", "internal/lsp", domain, "internal/jsonscan", "internal/rpc/transport"},
	"internal/rpc/rpctest":     {},
	"internal/rpc/mcp":         {domain, "internal/jsonscan", "internal/rpc/transport", "internal/estimate"},
	"internal/contextfiles":    {domain},
	"internal/audit":           {"internal/contextfiles", domain},
	"internal/ui":              {"internal/audit", "internal/check", "internal/contextfiles", domain},
	"internal/team/push":       {domain},
	"internal/team/postgres":   {domain, "internal/team/push"},
	"internal/team/telemetry":  {domain, "internal/team/push"},
	"internal/team/teamtest":   {domain, "internal/store/sqlite", "internal/team/push"}, // for tests alone
	"internal/check":           {},
	"internal/testuser":        {}, // for tests alone
	"internal/completion":      {},
	"internal/alert":           {domain},
	"internal/estimate":        {domain},
	"internal/install":         {domain, "internal/host", "internal/host/settings"},
	"internal/doctor": {"internal/check", "internal/config", domain, "internal/host", "internal/host/registry", "internal/host/settings",
		"internal/host/transcript", "internal/install", "internal/store", "internal/ui"},
}

// ofHost lists the imports of a host's package, in addition to the packages that run inside the host. A new host needs
// no entry.
var ofHost = []string{"internal/check", domain, "internal/host", "internal/host/reply", "internal/host/settings", "internal/host/shared", "internal/host/toolpath", "internal/host/transcript", "internal/jsonscan"}

// only lists the packages that may import a library, by the library's path or a prefix of it. Only tests are exempt.
var only = map[string][]string{
	"go.lsp.dev/jsonrpc2":                    {"internal/rpc", "internal/rpc/transport"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/rpc/mcp"},
	"modernc.org/sqlite":                     {"internal/store/sqlite", "internal/host/opencode", "internal/recall"},
	"database/sql":                           {"internal/store/sqlite", "internal/host/opencode", "internal/recall"},
	"github.com/fsnotify/fsnotify":           {"internal/store/sqlite", "internal/records"},
	"github.com/tailscale/hujson":            {"internal/config", "internal/contextfiles", "internal/host/settings"}, // our settings, and the settings of hosts that we edit
	"github.com/yuin/goldmark":               {"internal/contextfiles"},
	"github.com/spf13/pflag":                 {"cmd/ctxls", "cmd/ctxls-fleet"},
	"github.com/jackc/pgx/":                  {"internal/team/postgres"},
	"go.opentelemetry.io/":                   {"internal/team/telemetry", "cmd/ctxls-fleet"},
	"github.com/prometheus/":                 {"internal/team/telemetry"},
	"charm.land/":                            {"internal/ui"},
	"github.com/charmbracelet/":              {"internal/ui"},
	"github.com/tiktoken-go/tokenizer":       {}, // beside ours in benchmarks
	"github.com/pkoukk/tiktoken-go":          {}, // the oracle of tests and the source that tables are generated from
}

func TestImportsPointOneWay(t *testing.T) {
	for pkg, imports := range listImports(t) {
		if strings.HasPrefix(pkg, "cmd/") || strings.Contains(pkg, "/tools/") || strings.Contains(pkg, "/internal/") && !strings.HasPrefix(pkg, "internal/") || pkg == "test" || strings.HasPrefix(pkg, "test/") {
			continue
		}
		if strings.HasPrefix(pkg, "internal/core/token/") { // its generator and its parts
			continue
		}
		may, listed := allowed[pkg]
		switch name, host := strings.CutPrefix(pkg, "internal/host/"); {
		case host && !listed:
			may, listed = append([]string{"adapters/" + name}, ofHost...), true
		case pkg == "internal/host/registry":
			for _, imported := range imports {
				if own, ok := strings.CutPrefix(imported, module+"internal/host/"); ok && allowed["internal/host/"+own] == nil {
					may = append(may, "internal/host/"+own)
				}
			}
		case strings.HasPrefix(pkg, "adapters/"):
			listed = true
		}
		if !listed {
			t.Errorf("%s is not in the table of what may import what", pkg)
		}
		for _, imported := range imports {
			own, inModule := strings.CutPrefix(imported, module)
			switch {
			case inModule && !slices.Contains(may, own) && !(slices.Contains(may, domain) && inDomain(own)):
				t.Errorf("%s imports %s; it may import %v", pkg, own, may)
			case !inModule && strings.Contains(imported, ".") && (inDomain(pkg) || pkg == "internal/jsonscan"):
				t.Errorf("%s imports %s; it may import the standard library only", pkg, imported)
			}
			for library, users := range only {
				if strings.HasPrefix(imported, library) && !slices.Contains(users, pkg) {
					t.Errorf("%s imports %s; only %v may", pkg, imported, users)
				}
			}
		}
	}
}

// The domain does no I/O: neither it nor any imported package of ours opens files, uses a network, starts programs or
// knows SQL.
func TestCoreIsPure(t *testing.T) {
	forbidden := []string{"net", "net/http", "os/exec", "os/signal", "database/sql"}
	for pkg, imports := range listImports(t) {
		if !inDomain(pkg) || strings.HasPrefix(pkg, "internal/core/token/") || pkg == "internal/jsonscan" {
			continue
		}
		for _, imported := range imports {
			if imported == "os" || slices.Contains(forbidden, imported) {
				t.Errorf("%s imports %s", pkg, imported)
			}
		}
	}
	out, err := exec.Command("go", "list", "-deps", module+"internal/core").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if strings.Contains(strings.SplitN(dep, "/", 2)[0], ".") && !strings.HasPrefix(dep, module+"internal/core") && dep != module+"internal/jsonscan" {
			t.Errorf("internal/core depends on %s", dep)
		}
		if slices.Contains(forbidden, dep) {
			t.Errorf("internal/core depends on %s", dep)
		}
	}
}

// teamOnly lists the packages that may use a network: those of ctxls-fleet. ctxls contains none of them.
func teamOnly(pkg string) bool {
	return pkg == "cmd/ctxls-fleet" || strings.HasPrefix(pkg, "internal/team/")
}

// No package of ctxls can open a connection: no code calls the network functions that libraries bring along.
func TestNothingTalksToANetwork(t *testing.T) {
	all := listImports(t)
	for pkg, imports := range all {
		if strings.HasPrefix(pkg, "test/") || strings.Contains(pkg, "/tools/") || teamOnly(pkg) { // not part of the program
			continue
		}
		for _, imported := range imports {
			if imported == "net" || strings.HasPrefix(imported, "net/") && imported != "net/url" {
				t.Errorf("%s imports %s", pkg, imported)
			}
		}
	}
	out, err := exec.Command("go", "list", "-deps", module+"cmd/ctxls").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"internal/store/sqlite") {
		t.Fatal("go list -deps does not list what ctxls is made of")
	}
	for _, dep := range deps {
		own, inModule := strings.CutPrefix(dep, module)
		if inModule && teamOnly(own) || strings.HasPrefix(dep, "github.com/jackc/") || strings.HasPrefix(dep, "go.opentelemetry.io/") || strings.HasPrefix(dep, "github.com/prometheus/") {
			t.Errorf("ctxls depends on %s", dep)
		}
	}
}

// inDomain reports whether a package is internal/core or lies below it.
func inDomain(pkg string) bool {
	return pkg == "internal/core" || strings.HasPrefix(pkg, "internal/core/")
}

// listImports returns the imports of every package of this module, without tests.
func listImports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		imports[strings.TrimPrefix(fields[0], module)] = fields[1:]
	}
	if len(imports["internal/core"]) == 0 {
		t.Fatal("go list found no internal/core")
	}
	return imports
}
