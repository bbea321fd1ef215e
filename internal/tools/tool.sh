#!/bin/sh
# tool.sh staticcheck|govulncheck|otelcol: installs a tool into the cache, unless it is there, and prints its path.
set -eu
case $1 in
staticcheck) package=honnef.co/go/tools/cmd/staticcheck version=v0.8.2 ;; # the release that knows this Go
govulncheck) package=golang.org/x/vuln/cmd/govulncheck version=v1.8.0 ;;
otelcol) package=go.opentelemetry.io/collector version=v0.155.0 ;; # built from parts, which takes minutes
*)
  echo "usage: tool.sh staticcheck|govulncheck|otelcol" >&2
  exit 2
  ;;
esac
bin=${XDG_CACHE_HOME:-$HOME/.cache}/ctxls-dev/bin
if [ ! -x "$bin/$1-$version" ]; then
  mkdir -p "$bin"
  case $1 in
  otelcol) sh "$(dirname "$0")/otelcol/build.sh" "$bin/$1" >&2 ;;
  *) GOBIN=$bin go install "$package@$version" >&2 ;;
  esac || {
    sh "$(dirname "$0")/require.sh" modules
    exit 1
  }
  mv "$bin/$1" "$bin/$1-$version"
fi
echo "$bin/$1-$version"
