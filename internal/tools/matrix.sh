#!/bin/sh
# matrix.sh [ROW…]: runs TARGETS of the Makefile as if on other machines, each of them or those named: other locales, time zones, masks and
# terminals; checkouts at other places, of other kinds and owners; another user. Needs root, git, and Debian's locales for Turkish.
# What is committed is tested.
set -eu
cd "$(dirname "$0")/../.."
targets=${TARGETS:-unit vscode-unit neovim-test}
tree=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
[ "$(id -u)" = 0 ] || { echo "ctxls: the matrix needs root: it gives files away and takes another user's part" >&2; exit 1; }

# What is downloaded and compiled is shared; a HOME is not.
GOMODCACHE=$(go env GOMODCACHE) GOCACHE=$(go env GOCACHE) XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
npm_config_cache=$(cd / && npm config get cache)
export GOMODCACHE GOCACHE XDG_CACHE_HOME npm_config_cache
unset LC_ALL

# tests: runs the targets in this directory, with those variables; what is downloaded is downloaded without them. CI has its own say.
tests() {
  mkdir -p "$work/home"
  make --no-print-directory editors/vscode/node_modules/.package-lock.json
  # shellcheck disable=SC2086
  env -u CI HOME="$work/home" "$@" make --no-print-directory $targets
}

# copy PLACE: a clone there, and this shell in it.
copy() {
  mkdir -p "$(dirname "$1")"
  git clone -q "$tree" "$1"
  cd "$1"
}

# turkish: makes that locale, in which an I in small letters is no i.
turkish() {
  [ -e /usr/share/i18n/locales/tr_TR ] || { apt-get update -qq && apt-get install -y -qq --no-install-recommends locales; } >/dev/null
  mkdir -p "$work/locales"
  localedef -i tr_TR -f UTF-8 "$work/locales/tr_TR.UTF-8"
}

# tarball PLACE: the files without git, and this shell there.
tarball() {
  mkdir -p "$1"
  git archive HEAD | tar -x -C "$1"
  cd "$1"
}

row() {
  case $1 in
  lang-c) copy "$work/lang-c" && tests LANG=C LC_ALL=C ;;
  lang-tr) turkish && copy "$work/lang-tr" && tests LOCPATH="$work/locales" LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 ;;
  tz) copy "$work/tz" && tests TZ=Pacific/Apia ;;
  umask)
    umask 077
    copy "$work/umask" && tests
    ;;
  term) copy "$work/term" && tests TERM=dumb ;;
  space) copy "$work/a b/ctxls" && tests ;;
  umlaut) copy "$work/größe/ctxls" && tests ;;
  shallow)
    git clone -q --depth 1 "file://$tree" "$work/shallow"
    cd "$work/shallow" && tests
    ;;
  tarball) tarball "$work/tarball" && tests ;;
  owner)
    copy "$work/owner"
    chown -R 54321:54321 .
    tests
    ;;
  all) # at once, for whoever has no time for each
    umask 077
    turkish && tarball "$work/a größe/ctxls" && chown -R 54321:54321 . || return
    tests LOCPATH="$work/locales" LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 TZ=Pacific/Apia TERM=dumb http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9
    ;;
  proxy) copy "$work/proxy" && tests http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 ;;
  user)
    copy "$work/user/ctxls"
    GOPROXY="file://$GOMODCACHE/cache/download" GONOSUMDB='*' GOFLAGS=-modcacherw GOMODCACHE="$work/user/mod" go mod download
    mkdir "$work/user/home"
    chmod 755 "$work"
    chown -R 54321:54321 "$work/user"
    # shellcheck disable=SC2086
    env -u CI -u XDG_CACHE_HOME -u npm_config_cache HOME="$work/user/home" GOMODCACHE="$work/user/mod" GOCACHE="$work/user/cache" \
      setpriv --reuid 54321 --regid 54321 --clear-groups make --no-print-directory $targets
    ;;
  *)
    echo "ctxls: no row $1; there are $rows, and all" >&2
    return 2
    ;;
  esac
}

rows="lang-c lang-tr tz umask term space umlaut shallow tarball owner proxy user"
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $rows
passed=0 failed=0
for name; do
  begin=$(date +%s)
  if (set -e; row "$name") >"$work/$name.log" 2>&1; then # a function in a condition goes on after errors: make is the last of each row
    result=ok passed=$((passed + 1))
  else
    result=FAIL failed=$((failed + 1))
    cat "$work/$name.log"
  fi
  printf '%-5s %-10s %5d s\n' "$result" "$name" "$(($(date +%s) - begin))"
  find "$work" -mindepth 1 -maxdepth 1 ! -name '*.log' -exec rm -rf {} +
done
echo "machines: $passed passed, $failed failed"
[ "$failed" = 0 ]
