// Package registry lists the agent hosts that ctxls knows. A new host needs one line here.
package registry

import (
	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/host"
	"github.com/ctxls/ctxls/internal/host/claudecode"
	"github.com/ctxls/ctxls/internal/host/codex"
	"github.com/ctxls/ctxls/internal/host/gemini"
	"github.com/ctxls/ctxls/internal/host/generic"
	"github.com/ctxls/ctxls/internal/host/opencode"
	"github.com/ctxls/ctxls/internal/host/pi"
	"github.com/ctxls/ctxls/internal/host/qwen"
)

// All are the hosts, in the order in which ctxls shows them.
var All = []host.Host{
	claudecode.Host,
	opencode.Host,
	codex.Host,
	gemini.Host,
	qwen.Host,
	pi.Host,
	generic.Host,
}

// Find returns the host of a name; where there is none, it returns a Host without adapter and false.
func Find(name session.Host) (host.Host, bool) {
	for _, h := range All {
		if h.Name == name {
			return h, true
		}
	}
	return host.Host{}, false
}

// Check returns an error with coded.Invalid for a host that is not among All.
func Check(name session.Host) error {
	var known []session.Host
	for _, h := range All {
		known = append(known, h.Name)
	}
	return session.CheckHost(name, known)
}

// Installable returns the hosts that ctxls can be installed into.
func Installable() (hosts []host.Host) {
	for _, h := range All {
		if h.Installer != nil {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// Names returns the names of hosts.
func Names(hosts []host.Host) (names []string) {
	for _, h := range hosts {
		names = append(names, string(h.Name))
	}
	return names
}

// Recording returns the hosts whose records ctxls reads.
func Recording() (hosts []host.Host) {
	for _, h := range All {
		if h.Records != nil {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// Recorders returns what finds the sessions that hosts keep on the disk.
func Recorders(env host.Env) (recorders []core.Recorder) {
	for _, h := range All {
		if h.Records != nil {
			recorders = append(recorders, h.Records(env))
		}
	}
	return recorders
}

// Adapters returns the adapters of all hosts. getenv is as in host.Host.Adapter.
func Adapters(getenv func(string) string) map[session.Host]core.Adapter {
	adapters := map[session.Host]core.Adapter{}
	for _, h := range All {
		adapters[h.Name] = h.Adapter(getenv)
	}
	return adapters
}
