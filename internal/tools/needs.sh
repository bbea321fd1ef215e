#!/bin/sh
# needs.sh: installs what the tests need beside Go and Node and this machine lacks, by Debian's package manager, as root or with sudo.
# Where that cannot be done, it says what is not run, and what to install.
set -eu
list=$(mktemp)
trap 'rm -f "$list"' EXIT

# need PROGRAM PACKAGES WHAT: "PACKAGES|WHAT" is listed where there is no such program.
need() {
  for program in $1; do
    command -v "$program" >/dev/null 2>&1 && return
  done
  printf '%s|%s\n' "$2" "$3: there is no $1" >>"$list"
}

look() {
  : >"$list"
  need cc "gcc libc6-dev" "the race detector"
  need c++ g++ "the tests in VS Code, whose log is a module that is compiled"
  need tmux tmux "the tests in a terminal"
  need python3 python3 "what Python does in tests and examples"
  need jq jq "the examples of docs/hosts.md"
  need zsh zsh "the test of completion in zsh"
  need fish fish "the test of completion in fish"
  if [ "$(uname)" = Linux ]; then
    need unshare util-linux "the tests with real hosts and VS Code, which get a network of their own"
    need ip iproute2 "the tests in VS Code, which get a network of their own"
    need "chromium chromium-browser google-chrome" "chromium fonts-dejavu-core" "the tests in VS Code and of the report's page"
    need /usr/lib/postgresql/15/bin/postgres postgresql-15 "the tests of the fleet"
    need prometheus prometheus "the tests of the fleet"
    need promtool prometheus "the tests of the fleet"
    if [ "$(uname -m)" = x86_64 ]; then
      need "/usr/lib/wine/wine64 wine64" wine64 "the tests on Windows"
      need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64 "the tests on Windows, which need a small library"
      need qemu-aarch64-static qemu-user-static "the tests on arm64"
    fi
  fi
  [ "$(uname)" != Linux ] || [ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] ||
    printf 'fonts-dejavu-core|the pictures of the tests in VS Code: there is no font DejaVu Sans\n' >>"$list"
  need luacheck lua-check "the lint of the plugin for Neovim"
  need nvim neovim "the test that Debian's Neovim is told that it is too old"
  python3 -m pip --version >/dev/null 2>&1 || printf '%s|%s\n' python3-pip "the tests in Neovim: there is no pip, which gets it" >>"$list"
}

look
[ -s "$list" ] || exit 0
packages=$(cut -d '|' -f 1 "$list" | tr '\n' ' ')
as_root=
if [ "$(id -u)" != 0 ]; then
  as_root=sudo
  [ -t 0 ] || as_root="sudo -n" # nobody is there to be asked for a password
fi
# shellcheck disable=SC2086
if command -v apt-get >/dev/null 2>&1 && { [ -z "$as_root" ] || $as_root true 2>/dev/null; }; then
  echo "installing: $packages"
  lock="-o DPkg::Lock::Timeout=300" # another one may be installing, too
  if $as_root apt-get update -qq $lock && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install $lock -y -qq --no-install-recommends $packages >/dev/null; then
    look
  else
    echo "ctxls: Debian's packages cannot be installed: is there a network, and room on the disk? Going on without them" >&2
  fi
fi
sed 's/^[^|]*|/not run: /' "$list"
[ ! -s "$list" ] || echo "To run all of it, install as root: $(cut -d '|' -f 1 "$list" | tr '\n' ' ')"
