package telemetry

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/ctxls/ctxls/internal/core/coded"
	"github.com/ctxls/ctxls/internal/core/text"
)

// Scrape returns a reader for Prometheus, and what answers its requests. A request without the token is refused; "" accepts every request.
func Scrape(token string) (sdk.Reader, http.Handler, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutTargetInfo(), exporter.WithoutScopeInfo(),
		exporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		return nil, nil, err
	}
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is wrong", http.StatusUnauthorized)
			return
		}
		metrics.ServeHTTP(w, r)
	})
	return reader, mux, nil
}

// CheckListen returns an error for an address that other machines can reach, unless remote allows it and there is a token.
func CheckListen(address string, remote bool, token string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return coded.Errorf(coded.Invalid, "--listen: want HOST:PORT, got %q", text.Sanitize(address, 60))
	}
	ip := net.ParseIP(host)
	switch {
	case host == "localhost" || ip != nil && ip.IsLoopback():
		return nil
	case !remote:
		return coded.Errorf(coded.Invalid, "--listen: other machines can reach %s; --remote allows that", text.Sanitize(address, 60))
	case token == "":
		return coded.Errorf(coded.Invalid, "--remote needs a token in $CTXLS_FLEET_TOKEN, which Prometheus sends as its bearer token")
	}
	return nil
}

// Serve answers requests on an address until ctx ends. ready is told the address once it listens.
func Serve(ctx context.Context, address string, handler http.Handler, ready func(string)) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	ready(l.Addr().String())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(last)
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
