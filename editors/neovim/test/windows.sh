#!/bin/sh
# windows.sh: the tests that are about Windows, in a Neovim for Windows, with ctxls.exe, under Wine.
set -eu
cd "$(dirname "$0")/.."
wine=$(pwd)/../../internal/tools/wine/wine.sh
not_run() {
  echo "not run: the tests in Neovim for Windows: $1"
  exit 0
}
[ "$(uname -sm)" = "Linux x86_64" ] || not_run "they need Linux on x86-64"
[ -x /usr/lib/wine/wine64 ] || command -v wine64 >/dev/null || not_run "there is no wine64"
command -v x86_64-w64-mingw32-gcc >/dev/null || not_run "there is no x86_64-w64-mingw32-gcc"
python3 -m pip --version >/dev/null 2>&1 || not_run "there is no pip, which gets it"

export CTXLS_WINE=neovim # a Windows of its own
nvim=$(sh test/install.sh nvim-windows)
program=$(sh "$wine")/drive_c/ctxls.exe
(cd ../.. && GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build -ldflags '-s -w' -o "$program" ./cmd/ctxls)
export CTXLS='C:\ctxls.exe'
sh "$wine" "$nvim" --clean -l test/run.lua test/windows.lua </dev/null
