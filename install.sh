#!/bin/sh
# install.sh: puts a released ctxls into a directory of yours, after checking it against the release's checksums.
#
#   sh install.sh [--dir DIR] [--version VERSION] [--from PLACE]
#
# DIR is ~/.local/bin, VERSION the latest release, PLACE the project's releases; PLACE may be a URL or a directory that holds an
# archive and checksums.txt, such as `make release` makes.
set -eu

releases=https://github.com/ctxls/ctxls/releases
dir=
version=
from=
fail() {
  echo "install.sh: $*" >&2
  exit 1
}
while [ $# -gt 0 ]; do
  case $1 in
    --dir | --version | --from)
      [ $# -gt 1 ] || fail "$1 wants a value"
      case $1 in --dir) dir=$2 ;; --version) version=$2 ;; --from) from=$2 ;; esac
      shift 2
      ;;
    -h | --help)
      sed -n '2,7s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) fail "no option $1; there are --dir, --version and --from" ;;
  esac
done
[ -n "$dir" ] || dir=${HOME:?set HOME, or use --dir}/.local/bin
if [ -z "$from" ]; then
  if [ -n "$version" ]; then from=$releases/download/$version; else from=$releases/latest/download; fi
fi

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "no release for $(uname -s); on Windows unpack the zip, elsewhere build it: go install github.com/ctxls/ctxls/cmd/ctxls@latest" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "no release for $(uname -m); build it: go install github.com/ctxls/ctxls/cmd/ctxls@latest" ;;
esac
archive=ctxls_${system}_$arch.tar.gz

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
get() {
  if [ -d "$from" ]; then
    cp "$from/$1" "$work/$1" || fail "no $1 in $from"
  elif command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$work/$1" "$from/$1" || fail "cannot get $from/$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$work/$1" "$from/$1" || fail "cannot get $from/$1"
  else
    fail "needs curl or wget"
  fi
}
get checksums.txt
get "$archive"

want=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/checksums.txt")
[ -n "$want" ] || fail "checksums.txt does not know $archive"
if command -v sha256sum >/dev/null 2>&1; then
  got=$(sha256sum <"$work/$archive" | cut -d ' ' -f 1)
else
  got=$(shasum -a 256 <"$work/$archive" | cut -d ' ' -f 1)
fi
[ "$got" = "$want" ] || fail "$archive is not what checksums.txt says: $got, not $want. Nothing was installed."

tar -xzf "$work/$archive" -C "$work" ctxls
mkdir -p -- "$dir"
dir=$(CDPATH= cd -- "$dir" && pwd) # a PATH wants the whole name
# Into place in one step: hooks may be starting it at this moment.
cp "$work/ctxls" "$dir/.ctxls.new"
chmod 755 "$dir/.ctxls.new"
mv -f "$dir/.ctxls.new" "$dir/ctxls"
echo "$("$dir/ctxls" version) is in $dir"
case :$PATH: in *":$dir:"*) ;; *) echo "Put $dir on your PATH." ;; esac
echo "Next: ctxls install"
