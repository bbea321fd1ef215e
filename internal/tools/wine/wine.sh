#!/bin/sh
# wine.sh [PROGRAM ARGUMENT…]: runs a program of Windows under Wine, in a prefix of the project's own, which it makes where there is none.
# Without a program it only makes the prefix, and prints its path. Who sets CTXLS_WINE to a name has a prefix of that name, and so a
# Windows that nobody else stops.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
wine=wine64
[ -x /usr/lib/wine/wine64 ] && wine=/usr/lib/wine/wine64 # where Debian has it
source=$here/bcryptprimitives.c
prefix=${XDG_CACHE_HOME:-$HOME/.cache}/ctxls-dev/wine-$(cat "$source" "$0" | cksum | cut -d ' ' -f 1)${CTXLS_WINE:+-$CTXLS_WINE}
export WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' WINEPREFIX="$prefix"
unset DISPLAY

if [ ! -d "$prefix" ]; then
  half=$(mktemp -d "$(mkdir -p "${prefix%/*}" && echo "${prefix%/*}")/wine-half-XXXXXX")
  trap 'rm -rf "$half"' EXIT
  export WINEPREFIX="$half"
  "$wine" wineboot -i >/dev/null 2>&1
  "$wine" reg add 'HKCU\Software\Wine' /v Version /d win10 /f >/dev/null 2>&1 # Node wants it
  wineserver=$(command -v wineserver || echo /usr/lib/wine/wineserver64)
  "$wineserver" -w # until what was set is on the disk
  system=$half/drive_c/windows/system32
  own=/usr/lib/x86_64-linux-gnu/wine/x86_64-windows
  if [ -d "$own" ]; then # Wine has copied its libraries, 600 MB
    ln -sf -t "$system" "$own"/*.dll
    echo disable >"$half/.update-timestamp" # which would write through the links
  fi
  x86_64-w64-mingw32-gcc -Wall -Wextra -Wno-unused-parameter -Werror -Os -s -shared \
    -o "$system/bcryptprimitives.dll" "$source" -ladvapi32 -lntdll
  mv -T "$half" "$prefix" 2>/dev/null || true # another one may have been faster
  export WINEPREFIX="$prefix"
fi
if [ $# = 0 ]; then
  echo "$prefix"
  exit
fi
export WINEDLLOVERRIDES="$WINEDLLOVERRIDES;bcryptprimitives=n"
exec "$wine" "$@"
