package rpc

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/ctxls/ctxls/internal/core/session"
)

// methods is the one table of what a client may call. To add a method, write
//
//	func (s *Server) name(ctx context.Context, p *NameParams) (*NameResult, error)
//
// in the file of its family and enter it here: as a request, or as an overview when it is about all sessions. When
// NameParams has a method resolveSession(*Server) string, calls about the same session run one after another in the order of their
// arrival, and all others side by side. When it has a method check() error, that is called on what was decoded.
var methods = map[string]method{
	"initialize":                          immediate((*Server).initialize),
	"initialized":                         immediate((*Server).initializedByClient),
	"shutdown":                            immediate((*Server).shutdown),
	"exit":                                immediate((*Server).exit),
	"$/cancelRequest":                     immediate((*Server).cancelRequest),
	"$/setTrace":                          immediate((*Server).setTrace),
	"workspace/didChangeConfiguration":    immediate((*Server).didChangeConfiguration),
	"workspace/didChangeWorkspaceFolders": immediate((*Server).didChangeWorkspaceFolders),

	"context/audit":       request((*Server).contextAudit),
	"context/measure":     request((*Server).contextMeasure),
	"context/plan":        request((*Server).contextPlan),
	"context/prepare":     request((*Server).contextPrepare),
	"context/trim":        request((*Server).contextTrim),
	"hook/handle":         request((*Server).hookHandle),
	"metrics/record":      request((*Server).metricsRecord),
	"metrics/report":      overview((*Server).metricsReport),
	"session/compactions": request((*Server).sessionCompactions),
	"session/compacted":   request((*Server).sessionCompacted),
	"session/compacting":  request((*Server).sessionCompacting),
	"session/deleted":     request((*Server).sessionDeleted),
	"session/get":         request((*Server).sessionGet),
	"session/history":     request((*Server).sessionHistory),
	"session/recall":      request((*Server).sessionRecall),
	"session/list":        overview((*Server).sessionList),
	"state/inspect":       overview((*Server).stateInspect),
}

// method is an entry of the table.
type method struct {
	mode           mode
	params, result reflect.Type
	bind           func(s *Server, params []byte) (bound, error)
}

// bound is a method with the params of one request.
type bound struct {
	run     func(context.Context) (any, error)
	session string // the session that it is about, if the mode is inTurn
}

// mode says when a method runs.
type mode int

const (
	sideBySide mode = iota // whenever a worker is free
	inTurn                 // after all earlier requests about the same session
	afterAll               // after all earlier requests
	atOnce                 // before anything more is read
)

// ofSession is implemented by the params of methods whose calls keep their order within a session. The session's ID alone is the key,
// since a request may leave out the host.
type ofSession interface{ resolveSession(*Server) string }

// ofHost is implemented by the params of methods that may name a host; "" is none.
type ofHost interface{ host() session.Host }

// request makes an entry of a method that runs in turn or concurrently, depending on its params.
func request[P, R any](f func(*Server, context.Context, *P) (R, error)) method {
	m := entry(sideBySide, f)
	if _, ok := any(new(P)).(ofSession); ok {
		m.mode = inTurn
	}
	return m
}

// overview makes an entry of a method that reads everything and must see all earlier changes.
func overview[P, R any](f func(*Server, context.Context, *P) (R, error)) method {
	return entry(afterAll, f)
}

// immediate makes an entry of a method that runs at once and must be quick.
func immediate[P, R any](f func(*Server, context.Context, *P) (R, error)) method {
	return entry(atOnce, f)
}

func entry[P, R any](when mode, f func(*Server, context.Context, *P) (R, error)) method {
	return method{mode: when, params: reflect.TypeFor[P](), result: reflect.TypeFor[R](), bind: binder(f)}
}

func binder[P, R any](f func(*Server, context.Context, *P) (R, error)) func(*Server, []byte) (bound, error) {
	return func(s *Server, params []byte) (bound, error) {
		p, err := decode[P](params)
		if err != nil {
			return bound{}, err
		}
		if h, ok := any(p).(ofHost); ok && h.host() != "" {
			if err := s.service.CheckHost(h.host()); err != nil {
				return bound{}, inParams(err)
			}
		}
		b := bound{run: func(ctx context.Context) (any, error) { return f(s, ctx, p) }}
		if o, ok := any(p).(ofSession); ok {
			b.session = o.resolveSession(s)
		}
		return b, nil
	}
}

// names lists ctxls's own methods in a table, sorted, without those of the protocol's lifecycle.
func names(table map[string]method) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(table)), func(name string) bool {
		_, language := languageMethods[name]
		return language || table[name].mode == atOnce
	})
}
