#!/bin/sh
# arm64.sh [PACKAGE…]: the unit tests as programs for arm64, under emulation. qemu runs them in a namespace of their own, which needs
# Linux 6.7: so tests can start further programs, and the machine stays as it is. Left out are the tools, which developers run, test/,
# which builds and checks the tree, and the tests of the plugin for OpenCode, which run Node.
set -eu
if [ "${1:-}" = --inside ]; then
  shift
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  # How a program for arm64 begins, which bits of that count, and what runs it.
  begins='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  counts='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  printf '%s' ":arm64:M::$begins:$counts:$(command -v qemu-aarch64-static):F" >/proc/sys/fs/binfmt_misc/register
  exec "$@"
fi

export GOARCH=arm64 CGO_ENABLED=0
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
printf 'package main\n\nfunc main() {}\n' >"$probe/main.go"
go build -o "$probe/main" "$probe/main.go"
inside="unshare -rm sh $0 --inside"
if "$probe/main" 2>/dev/null; then
  inside= # this machine runs such programs
elif ! $inside "$probe/main"; then
  echo "not run: the tests on arm64: Linux before 6.7 runs programs of another processor only with Debian's binfmt-support"
  exit
fi
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(go list ./... | grep -v -e /internal/tools/ -e /adapters/ -e '/test$' -e '/test/')
# Without what debuggers want, programs are linked in half the time.
# shellcheck disable=SC2086
$inside go test -count=1 -short -vet=off -timeout 10m -ldflags='-s -w' "$@"
