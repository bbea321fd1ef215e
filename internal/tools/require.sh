#!/bin/sh
# require.sh THING…: says in a sentence what this machine lacks, and what to do, and then fails. Things are go, node, room (on the
# disk, for everything), modules and packages (whether Go's and npm's can be had; to be asked when something failed).
set -eu
cd "$(dirname "$0")/../.."

lacks() {
  echo "ctxls: $1" >&2
  exit 1
}

# older A B: whether version A is older than B.
older() {
  [ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -t. -k1,1n -k2,2n -k3,3n | head -n 1)" = "$1" ]
}

network="Is there a network? Behind a proxy, set https_proxy"

for thing; do
  case $thing in
  go)
    want=$(sed -n 's/^go //p' go.mod)
    command -v go >/dev/null || lacks "there is no Go on the PATH. Install Go $want or later: https://go.dev/dl"
    have=$(cd / && GOTOOLCHAIN=local go env GOVERSION 2>/dev/null | sed 's/^go//; s/[^0-9.].*//')
    # From 1.21 on Go gets a newer one by itself, unless it was told not to.
    if older "$have" "$want" && { older "$have" 1.21 || [ "$(cd / && go env GOTOOLCHAIN)" = local ]; }; then
      lacks "Go $have is too old: ctxls is built with Go $want or later. Install it: https://go.dev/dl"
    fi
    ;;
  node)
    { command -v node && command -v npm; } >/dev/null || lacks "there is no Node.js on the PATH, or no npm. Install Node.js 20 or later with npm: https://nodejs.org"
    have=$(node --version | sed 's/^v//')
    ! older "$have" 20 || lacks "Node.js $have is too old: the tests need 20 or later. Install it: https://nodejs.org"
    ;;
  room)
    for dir in "${TMPDIR:-/tmp}" "${XDG_CACHE_HOME:-$HOME/.cache}" "$(go env GOCACHE)" .; do
      while [ ! -d "$dir" ]; do dir=$(dirname "$dir"); done
      free=$(df -Pk "$dir" | awk 'END { print int($4 / 1024) }')
      [ "$free" -ge 2048 ] || lacks "the disk of $dir has $free MB left; the tests need 2048. Make room, or put caches elsewhere: XDG_CACHE_HOME, GOCACHE, TMPDIR"
    done
    ;;
  modules)
    go mod download >/dev/null 2>&1 || lacks "Go's modules cannot be downloaded from $(go env GOPROXY). $network; with a mirror, go env -w GOPROXY=URL"
    ;;
  packages)
    npm ping >/dev/null 2>&1 || lacks "the npm registry $(npm config get registry) does not answer. $network; with a mirror, npm config set registry URL"
    ;;
  esac
done
