#!/bin/sh
# e2e.sh: the end-to-end tests with the real agent hosts, one host after the other, since each is a whole program.
#
# What a host does in its own time no test of ours can order. A test that fails is run once more, alone; failing again it fails, and
# what passed then is named in a line of its own, with the first failure above it: whoever reads it looks for what was not waited for.
set -eu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM

# run PACKAGE [FLAG…]: -v, since where a test cannot run it says why.
run() {
  { go test -tags e2e -count=1 -timeout 20m -v "$@" && echo 0 > "$out/status" || echo $? > "$out/status"; } 2>&1 | tee "$out/log"
  return "$(cat "$out/status")"
}

passed=0 again=0 failed=0
for package in $(go list -tags e2e -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./test/*/); do
  if run "$package"; then
    passed=$((passed + 1))
    continue
  fi
  names=$(sed -n 's/^--- FAIL: \([A-Za-z0-9_]*\) .*/\1/p' "$out/log" | paste -s -d '|' -)
  # A panic, a build that is broken and an end by time name no test, or not all of them.
  if [ -z "$names" ] || grep -q -e '^panic: ' -e '^fatal error: ' -e ' \[build failed\]$' "$out/log" || ! run "$package" -run "^($names)\$"; then
    failed=$((failed + 1))
    continue
  fi
  echo "*** $(basename "$package"): $names failed, and passed when run once more"
  again=$((again + 1))
done
echo "hosts: $passed passed, $again passed at the second attempt, $failed failed"
[ "$failed" = 0 ] && [ $((passed + again)) -gt 0 ]
