#!/bin/sh
# build.sh PROGRAM: builds the OpenTelemetry collector of the tests, which takes minutes, and puts it at PROGRAM.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
GOBIN="$work" go install go.opentelemetry.io/collector/cmd/builder@v0.155.0
sed "s|^dist:|dist:\n  output_path: $work/out|" "$here/builder.yaml" > "$work/builder.yaml"
"$work/builder" --config="$work/builder.yaml" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
mkdir -p "$(dirname "$1")"
mv "$work/out/otelcol" "$1"
