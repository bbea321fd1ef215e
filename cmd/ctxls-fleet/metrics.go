package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/ctxls/ctxls/internal/core/text"
	"github.com/ctxls/ctxls/internal/team/push"
	"github.com/ctxls/ctxls/internal/team/telemetry"
)

var metricsCommand = command{
	name: "metrics", synopsis: "[--listen 127.0.0.1:9464] [--team NAME]", short: "let Prometheus scrape the figures of this machine",
	long: `
It answers GET /metrics until it is interrupted. Other machines reach it with --remote only, and with the bearer token in
$CTXLS_FLEET_TOKEN.`,
	examples: "ctxls-fleet metrics\nCTXLS_FLEET_TOKEN=… ctxls-fleet metrics --listen :9464 --remote",
	setup: func(a *app, fs *pflag.FlagSet) action {
		listen := fs.String("listen", "127.0.0.1:9464", "`address` to listen on")
		remote := fs.Bool("remote", false, "allow an address that other machines can reach")
		team := fs.String("team", a.getenv("CTXLS_FLEET_TEAM"), "`name` of the team that this machine belongs to")
		return func(ctx context.Context, a *app) error {
			token := a.getenv("CTXLS_FLEET_TOKEN")
			if err := telemetry.CheckListen(*listen, *remote, token); err != nil {
				return usageError{err.Error()}
			}
			reader, handler, err := telemetry.Scrape(token)
			if err != nil {
				return err
			}
			provider, err := a.meter(ctx, *team, false, reader)
			if err != nil {
				return err
			}
			defer shutdown(ctx, provider)
			return telemetry.Serve(ctx, *listen, handler, func(address string) { fmt.Fprintf(a.stderr, "ctxls-fleet: listening on http://%s/metrics\n", address) })
		}
	},
}

// settle is how long after its recording a task is counted.
const settle = 30 * time.Second

// meter makes what measures this machine. Where remembered is set it goes on where the last process stopped.
func (a *app) meter(ctx context.Context, team string, remembered bool, reader sdk.Reader) (*sdk.MeterProvider, error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { a.log.Warn("telemetry", "problem", text.Sanitize(err.Error(), 300)) }))
	local, err := a.state(ctx)
	if err != nil {
		return nil, err
	}
	id, err := push.OpenIdentity(local.dir, false)
	if err != nil {
		return nil, err
	}
	o := telemetry.Options{Source: local, Redact: push.Redaction{Salt: id.Salt, Team: team}, Machine: id.Machine, Version: versionString(), Now: time.Now, Settle: settle}
	if remembered {
		file, since := filepath.Join(local.dir, "fleet-otlp.json"), telemetry.Cursor{}
		if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &since) == nil {
			o.Since = &since
		}
		o.Counted = func(c telemetry.Cursor) {
			if err := push.SaveJSON(file, c); err != nil {
				a.log.Warn("what was counted cannot be remembered", "problem", err.Error())
			}
		}
	}
	return telemetry.New(ctx, o, reader)
}

// pushOTLP sends this machine's figures to a collector.
func (a *app) pushOTLP(ctx context.Context, collector, team string, watch bool) error {
	reader, err := telemetry.OTLP(ctx, collector)
	if err != nil {
		return err
	}
	local, err := a.state(ctx)
	if err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(local.dir, "fleet-otlp.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	provider, err := a.meter(ctx, team, true, reader)
	if err != nil {
		return err
	}
	if watch {
		<-ctx.Done()
		shutdown(ctx, provider)
		return nil
	}
	if err := provider.ForceFlush(ctx); err != nil {
		return fmt.Errorf("the collector at %s did not take the figures: %s", text.Sanitize(collector, 200), text.Sanitize(err.Error(), 200))
	}
	return nil
}

// shutdown sends what is left.
func shutdown(ctx context.Context, provider *sdk.MeterProvider) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := provider.Shutdown(last); err != nil {
		otel.Handle(err)
	}
}
