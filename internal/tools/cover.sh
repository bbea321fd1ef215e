#!/bin/sh
# cover.sh PACKAGE PERCENT: fails when the statements of a package that its own tests run are fewer than PERCENT %.
set -eu
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
go test -short -coverprofile="$profile" "./$1" >/dev/null
total=$(go tool cover -func="$profile" | awk '/^total:/ { sub("%", "", $3); print $3 }')
echo "$1: $total % of statements covered (at least $2 wanted)"
awk -v have="$total" -v want="$2" 'BEGIN { exit !(have >= want) }'
