#!/bin/sh
# with.sh WHAT PROGRAM… -- COMMAND…: runs the command, or says that WHAT is not run where one of the programs is missing.
set -eu
what=$1
shift
while [ "$1" != -- ]; do
  command -v "$1" >/dev/null 2>&1 || { echo "not run: $what: there is no $1"; exit 0; }
  shift
done
shift
exec "$@"
