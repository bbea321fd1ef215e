#!/bin/sh
# cover.sh PACKAGE PERCENT: fails when the tests of a package and those below it run fewer than PERCENT % of their statements.
set -eu
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
go test -short -coverpkg="./$1/..." -coverprofile="$profile" "./$1/..." >/dev/null
total=$(go tool cover -func="$profile" | awk '/^total:/ { sub("%", "", $3); print $3 }')
echo "$1: $total % of statements covered (at least $2 wanted)"
awk -v have="$total" -v want="$2" 'BEGIN { exit !(have >= want) }'
