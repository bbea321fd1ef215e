#!/bin/sh
# needs.sh: installs what the tests need beside Go and Node and the machine lacks, by Debian's package manager; where that
# cannot be done it says what to install.
set -eu
missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need cc "gcc libc6-dev" # the race detector
need c++ g++            # the log of VS Code is a module that is compiled
need tmux tmux          # a terminal for status lines
need unshare util-linux # a network of the tests' own
need ip iproute2
need npm npm
if [ "$(uname)" = Linux ]; then # the report's page, and VS Code, are looked at through a browser
  command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || need chromium "chromium fonts-dejavu-core"
fi
need luacheck lua-check # the plugin for Neovim
need nvim neovim        # Debian's is too old for it, and must be told so
python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
if [ "$(uname)" = Linux ]; then # the fleet
  [ -x /usr/lib/postgresql/15/bin/postgres ] || missing="$missing postgresql-15"
  need prometheus prometheus
  need promtool prometheus
fi
need jq jq           # the examples of docs/hosts.md
need python3 python3
need node nodejs
[ -z "$missing" ] && exit 0
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
if command -v apt-get >/dev/null 2>&1 && { [ -z "$as_root" ] || command -v sudo >/dev/null 2>&1; }; then
  echo "installing:$missing"
  lock="-o DPkg::Lock::Timeout=300" # another one may be installing, too
  # shellcheck disable=SC2086
  $as_root apt-get update -qq $lock
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install $lock -y -qq --no-install-recommends $missing >/dev/null
else
  echo "the tests need:$missing; install them and try again" >&2
  exit 1
fi
