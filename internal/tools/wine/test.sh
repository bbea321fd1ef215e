#!/bin/sh
# test.sh [PACKAGE…]: the unit tests as programs of Windows, under Wine. Left out are the tools, which developers run where Go and a shell
# are; test/, which builds and checks the tree as a whole there; the tests of the plugins for OpenCode and pi, which run Node; and the tests
# that exceptions.txt names, each with the reason.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exceptions=$here/exceptions.txt
[ "$(grep -c . "$exceptions")" -le 10 ] || { echo "exceptions.txt: more than ten" >&2; exit 1; }
skip=$(sed 's| .*||; s|/|$/^|; s|.*|^&$|' "$exceptions" | paste -sd '|' -)

prefix=$(sh "$here/wine.sh")
export WINEPREFIX="$prefix"
wineserver=$(command -v wineserver || echo /usr/lib/wine/wineserver64)
"$wineserver" -f -p & # to stay: programs start in a tenth of the time
trap '"$wineserver" -k; wait; rm -rf "$prefix/drive_c/users/"*/Temp/*' EXIT
trap 'exit 1' HUP INT TERM
sh "$here/wine.sh" cmd /c exit >/dev/null 2>&1 # starts services of Windows, which keep its output open

export GOOS=windows GOARCH=amd64 CGO_ENABLED=0
failed=0
# unit [FLAG…] PACKAGE…: without what debuggers want, programs are linked in half the time.
unit() {
  go test -count=1 -vet=off -timeout 10m -ldflags='-s -w' -skip "$skip" -exec "sh $here/wine.sh" "$@" || failed=1
}
if [ $# -gt 0 ]; then
  unit -short "$@"
  exit $failed
fi
# shellcheck disable=SC2046
unit -short $(go list ./... | grep -v -e /internal/tools/ -e /adapters/ -e '/test$' -e '/test/')
# What processes do to one state together, in full.
unit -run '^Test(ManyProcesses|NothingIsLost|KilledWriters)' ./internal/store/sqlite
exit $failed
