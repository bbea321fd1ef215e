#!/bin/sh
# unit.sh DIRECTORY PERCENT: all tests in Go. Of the statements of the packages in and below DIRECTORY, their own tests and those of hosts and
# of the protocol, which replay what was captured through them, must run PERCENT at least. Nothing is taken from the cache: it does not run
# tests that build the program themselves anew when only the program changed.
set -eu
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
failed=0
replaying="./internal/host/... ./internal/rpc/..."
# shellcheck disable=SC2086
go test -count=1 -vet=off -coverpkg="./$1/..." -coverprofile="$profile" "./$1/..." $replaying || failed=1
total=$(go tool cover -func="$profile" | awk '/^total:/ { sub("%", "", $3); print $3 }')
echo "$1: $total % of statements covered (at least $2 wanted)"
awk -v have="$total" -v want="$2" 'BEGIN { exit !(have >= want) }' || failed=1
# shellcheck disable=SC2046
go test -count=1 -vet=off $(go list ./... | grep -v -e "/$1" -e /internal/host -e /internal/rpc) || failed=1
exit $failed
