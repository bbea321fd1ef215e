#!/bin/sh
# fuzz.sh TIME: runs every fuzz target of the tree for TIME (such as 10s or 5m) each, from its seeds on. What it finds is
# written to the package's testdata/fuzz, where it is a test from then on.
set -eu
time=${1:?want a time, such as 10s}
passed=0 failed=0
for file in $(grep -rl '^func Fuzz' --include='*_test.go' cmd internal); do
  for name in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
    echo "$(dirname "$file") $name"
    if go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "./$(dirname "$file")"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  done
done
echo "fuzz targets: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
