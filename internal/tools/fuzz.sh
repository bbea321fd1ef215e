#!/bin/sh
# fuzz.sh TIME: runs every fuzz target of the tree for TIME (such as 10s or 5m) each, from its seeds on. What it finds is
# written to the package's testdata/fuzz, where it is a test from then on.
#
# What go test found worth keeping in runs before is left out: with real stores and many threads nearly everything seems new to it,
# and after some runs their replay took all of the time. For the same reason an input is made shorter by a few attempts only, not
# by a minute of them.
set -eu
time=${1:?want a time, such as 10s}
passed=0 late=0 failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM

# At the end of its time go test now and then reports that end as a failure of the target (https://go.dev/issue/75804). Beside its
# progress it then says this and nothing else; a failing input, a failing seed, a panic or a broken build always say more.
only_late() {
  cat > "$out/want" <<END
--- FAIL: $1 TIME
    context deadline exceeded
FAIL
exit status 1
FAIL PACKAGE
END
  sed -e '/^fuzz: elapsed: /d' -e 's/^\(--- FAIL: .*\) ([0-9.]*s)$/\1 TIME/' -e 's/^FAIL[[:blank:]].*/FAIL PACKAGE/' "$out/log" | cmp -s - "$out/want"
}

for file in $(grep -rl '^func Fuzz' --include='*_test.go' cmd internal); do
  for name in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
    echo "$(dirname "$file") $name"
    rm -rf "$out/kept" # targets of one name share it
    { go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 50x "./$(dirname "$file")" -args -test.fuzzcachedir="$out/kept" && echo 0 > "$out/status" || echo $? > "$out/status"; } 2>&1 | tee "$out/log"
    if [ "$(cat "$out/status")" = 0 ]; then
      passed=$((passed + 1))
    elif only_late "$name"; then
      echo "*** $name: its time was up, which go test took for a failure (https://go.dev/issue/75804); no input failed"
      late=$((late + 1))
    else
      failed=$((failed + 1))
    fi
  done
done
echo "fuzz targets: $passed passed, $late ended late without a failing input, $failed failed"
[ "$failed" = 0 ] && [ $((passed + late)) -gt 0 ]
