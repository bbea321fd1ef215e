#!/bin/sh
# tool.sh staticcheck|govulncheck: installs a tool into the cache, unless it is there, and prints its path.
set -eu
case $1 in
staticcheck) package=honnef.co/go/tools/cmd/staticcheck version=v0.8.2 ;; # the release that knows this Go
govulncheck) package=golang.org/x/vuln/cmd/govulncheck version=v1.8.0 ;;
*)
  echo "usage: tool.sh staticcheck|govulncheck" >&2
  exit 2
  ;;
esac
bin=${XDG_CACHE_HOME:-$HOME/.cache}/ctxls-dev/bin
if [ ! -x "$bin/$1-$version" ]; then
  mkdir -p "$bin"
  GOBIN=$bin go install "$package@$version" >&2 || {
    sh "$(dirname "$0")/require.sh" modules
    exit 1
  }
  mv "$bin/$1" "$bin/$1-$version"
fi
echo "$bin/$1-$version"
