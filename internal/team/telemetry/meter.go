// Package telemetry gives the figures of this machine to OpenTelemetry: pushed by OTLP, or scraped by Prometheus.
//
// Names are those of https://opentelemetry.io/docs/specs/semconv/gen-ai/ where there are any. Sessions are told as exemplars only, so that
// the number of series grows with models and not with sessions.
package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/ctxls/ctxls/internal/core"
	"github.com/ctxls/ctxls/internal/core/fleet"
	"github.com/ctxls/ctxls/internal/core/session"
	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/team/push"
)

// Source is what the figures are of.
type Source interface {
	Sessions(ctx context.Context, f core.SessionFilter) ([]core.SessionView, error)
	Tasks(ctx context.Context) ([]core.NumberedTask, fleet.TrimCount, error)
}

// Cursor is which tasks and compactions have been counted.
type Cursor struct {
	Task        int64          `json:"task"`        // the number of the last task
	Compactions map[string]int `json:"compactions"` // by session, as it is sent
}

// Options say what is measured.
type Options struct {
	Source  Source
	Redact  push.Redaction // Team goes with every figure, Session makes the exemplars
	Machine string         // a UUID: what tells the figures of two machines apart
	Version string
	Now     func() time.Time
	// Settle is how long after its recording a task is counted: the next prompt may record it again, with more tokens.
	Settle time.Duration
	// Since is what an earlier process has counted; nil counts what comes from now on.
	Since *Cursor
	// Counted is told of what was counted, when it was. It may be nil.
	Counted func(Cursor)
	// Failed is told when the figures could not be read.
	Failed func(error)
}

// taskBounds are the bounds of the histogram of tasks, in tokens. 200,000 is the threshold of the fleet's figures. Each bound is a series for
// each agent: with these an agent makes ten.
var taskBounds = []float64{100_000, 200_000}

// sessionKey names a session in exemplars. No series has it.
const sessionKey = attribute.Key("ctxls.session")

// meter keeps what was counted between two readings.
type meter struct {
	Options
	mu     sync.Mutex
	cursor Cursor
	begun  bool

	utilization                  metric.Float64ObservableGauge
	window, tokens, toCompaction metric.Int64ObservableGauge
	compactions                  metric.Int64Counter
	tasks                        metric.Int64Histogram
}

// New makes a provider whose readers read the figures. Shut it down in the end.
func New(ctx context.Context, o Options, readers ...sdk.Reader) (*sdk.MeterProvider, error) {
	m := &meter{Options: o, cursor: Cursor{Compactions: map[string]int{}}}
	if o.Since != nil {
		m.begun, m.cursor.Task = true, o.Since.Task
		for session, n := range o.Since.Compactions {
			m.cursor.Compactions[session] = n
		}
	}
	described, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "ctxls-fleet"), attribute.String("service.instance.id", o.Machine)),
		resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	options := []sdk.Option{sdk.WithResource(described), sdk.WithExemplarFilter(exemplar.AlwaysOnFilter),
		sdk.WithView(sdk.NewView(sdk.Instrument{Name: "*"}, sdk.Stream{AttributeFilter: attribute.NewDenyKeysFilter(sessionKey)}))}
	for _, r := range readers {
		options = append(options, sdk.WithReader(r))
	}
	provider := sdk.NewMeterProvider(options...)
	if err := m.instruments(provider.Meter("github.com/ctxls/ctxls", metric.WithInstrumentationVersion(o.Version))); err != nil {
		return nil, err
	}
	if !m.begun { // what was there before is not counted
		if err := m.count(ctx, true); err != nil {
			return nil, err
		}
	}
	return provider, nil
}

// instruments makes the instruments and registers what reads them.
func (m *meter) instruments(on metric.Meter) (err error) {
	first := func(made error) {
		if err == nil {
			err = made
		}
	}
	var made error
	m.utilization, made = on.Float64ObservableGauge("gen_ai.context.utilization", metric.WithUnit("1"), metric.WithDescription("How full the context window of the fullest active session is, 0 to 1."))
	first(made)
	m.window, made = on.Int64ObservableGauge("gen_ai.context.window_size", metric.WithUnit("{token}"), metric.WithDescription("How many tokens that window holds."))
	first(made)
	m.tokens, made = on.Int64ObservableGauge("ctxls.context.tokens", metric.WithUnit("{token}"), metric.WithDescription("How many tokens are in it."))
	first(made)
	m.toCompaction, made = on.Int64ObservableGauge("ctxls.context.tokens_to_compaction", metric.WithUnit("{token}"), metric.WithDescription("How many are left until its host compacts it."))
	first(made)
	m.compactions, made = on.Int64Counter("ctxls.compactions", metric.WithUnit("{compaction}"), metric.WithDescription("How often a host has replaced the history of a session with a summary."))
	first(made)
	m.tasks, made = on.Int64Histogram("ctxls.task.tokens", metric.WithUnit("{token}"), metric.WithDescription("The most tokens that a task held."), metric.WithExplicitBucketBoundaries(taskBounds...))
	first(made)
	if err != nil {
		return err
	}
	_, err = on.RegisterCallback(m.read, m.utilization, m.window, m.tokens, m.toCompaction)
	return err
}

// read is called for each reading.
func (m *meter) read(ctx context.Context, o metric.Observer) error {
	err := m.observe(ctx, o)
	if err == nil {
		err = m.count(ctx, false)
	}
	if err != nil && m.Failed != nil {
		m.Failed(err)
	}
	return err
}

// observe tells how full windows are. Of the active sessions that share their attributes the fullest counts, with all its figures.
func (m *meter) observe(ctx context.Context, o metric.Observer) error {
	views, err := m.Source.Sessions(ctx, core.SessionFilter{})
	if err != nil {
		return err
	}
	fullest := map[attribute.Distinct]core.SessionView{}
	for _, v := range views {
		if v.State != core.StateActive || v.Usage.Tokens == nil || v.Usage.WindowTokens <= 0 {
			continue
		}
		set := m.attributes(v.Host, v.Provider, v.Model)
		if before, seen := fullest[set.Equivalent()]; !seen || share(v) > share(before) {
			fullest[set.Equivalent()] = v
		}
	}
	for _, v := range fullest {
		set := attribute.NewSet(append(m.attributes(v.Host, v.Provider, v.Model).ToSlice(), m.exemplar(v))...)
		with := metric.WithAttributeSet(set)
		o.ObserveFloat64(m.utilization, share(v), with)
		o.ObserveInt64(m.window, int64(v.Usage.WindowTokens), with)
		o.ObserveInt64(m.tokens, int64(*v.Usage.Tokens), with)
		if v.Usage.ToCompaction != nil {
			o.ObserveInt64(m.toCompaction, int64(*v.Usage.ToCompaction), with)
		}
	}
	return nil
}

// share returns how full a session's window is; above 1 is full.
func share(v core.SessionView) float64 {
	return min(float64(*v.Usage.Tokens)/float64(v.Usage.WindowTokens), 1)
}

// attributes returns what figures of a session are told apart by.
func (m *meter) attributes(host session.Host, provider, model string) *attribute.Set {
	set := attribute.NewSet(attribute.String("gen_ai.provider.name", providerName(provider)), attribute.String("gen_ai.request.model", text.Sanitize(model, 100)),
		attribute.String("ctxls.host", string(host)), attribute.String("ctxls.team", m.Redact.Team))
	return &set
}

// exemplar returns what names a session.
func (m *meter) exemplar(v core.SessionView) attribute.KeyValue {
	return sessionKey.String(m.Redact.Session(session.Key{Host: v.Host, SessionID: v.SessionID}))
}

// providerName spells a provider as the conventions do, where they name it.
func providerName(provider string) string {
	names := map[string]string{"google": "gcp.gemini", "google-vertex": "gcp.vertex_ai", "amazon-bedrock": "aws.bedrock", "azure": "azure.ai.openai",
		"mistral": "mistral_ai", "xai": "x_ai"}
	if name, known := names[provider]; known {
		return name
	}
	return text.Sanitize(provider, 100)
}
