package telemetry

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/ctxls/ctxls/internal/core/coded"
)

// OTLP returns a reader that sends the figures to a collector by HTTP, at the interval of $OTEL_METRIC_EXPORT_INTERVAL. The URL is that of the
// collector; a path in it replaces the usual /v1/metrics. What else there is to set is read from the SDK's environment variables.
func OTLP(ctx context.Context, collector string) (sdk.Reader, error) {
	u, err := url.Parse(collector)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, coded.Errorf(coded.Invalid, "the collector's URL cannot be read: want http://HOST:4318 or https://HOST")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/metrics"
	}
	exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(u.String()))
	if err != nil {
		return nil, fmt.Errorf("the collector: %w", err)
	}
	return sdk.NewPeriodicReader(exporter), nil
}
