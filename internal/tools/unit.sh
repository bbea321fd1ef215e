#!/bin/sh
# unit.sh DIRECTORY PERCENT: all tests in Go. Of the statements of the packages in and below DIRECTORY, their own tests must run PERCENT
# at least. Nothing is taken from the cache: tests that build the program themselves are not run anew by it when only the program changed.
set -eu
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
failed=0
go test -count=1 -vet=off -coverpkg="./$1/..." -coverprofile="$profile" "./$1/..." || failed=1
total=$(go tool cover -func="$profile" | awk '/^total:/ { sub("%", "", $3); print $3 }')
echo "$1: $total % of statements covered (at least $2 wanted)"
awk -v have="$total" -v want="$2" 'BEGIN { exit !(have >= want) }' || failed=1
# shellcheck disable=SC2046
go test -count=1 -vet=off $(go list ./... | grep -v "/$1") || failed=1
exit $failed
