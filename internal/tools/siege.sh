#!/bin/sh
# siege.sh TIME: attacks ctxls for about TIME (such as 10m), and prints what was tried: the fault tests with many repetitions, then every
# fuzz target. CTXLS_SIEGE=1000 sets the number of repetitions. The exit status is 0 only if everything held.
set -eu
time=${1:?want a time, such as 10m}
case $time in
*m) seconds=$((${time%m} * 60)) ;;
*s) seconds=${time%s} ;;
*) echo "siege.sh: want a time such as 10m or 90s, got $time" >&2; exit 2 ;;
esac
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
export CTXLS_SIEGE="${CTXLS_SIEGE:-$((seconds / 6 + 1))}"

# Processes that are killed, limited and raced; files that are removed, damaged, linked and written by others; disks and clocks.
echo "faults, $CTXLS_SIEGE repetitions"
go test -count=1 -v -timeout 4h -run 'Veto|Loses|Lose|Lease|Stands|Aside|Lost|Removed|Kill|Together|AtOnce|Damage|Disk|Clock|Hostile|Records|Hosts|Deleted|Fault|Link|NoState|Abandoned|Restored' \
  ./test ./internal/install ./internal/host/settings ./internal/store/sqlite ./cmd/ctxls > "$out/faults" 2>&1 || failed=1
# The figures are what tests log: lines that are indented and name a file.
sed -n -e '/^--- PASS/d' -e 's/^ *[a-z_]*_test\.go:[0-9]*: \(.*[0-9].*\)$/  \1/p' "$out/faults" | grep -E 'starts each|lost|gave up|killed|rounds' || true
grep -E '^(FAIL|panic|--- FAIL|    --- FAIL)' "$out/faults" || true
echo "fault tests: $(grep -c '^--- PASS' "$out/faults") passed, $(grep -c '^--- FAIL' "$out/faults" || true) failed, $(grep -c '^--- SKIP' "$out/faults" || true) skipped"
[ "$failed" = 0 ] || tail -60 "$out/faults"

# Half of the time for the targets; the faults, and building and replaying seeds, take the rest.
targets=$(grep -rh '^func Fuzz' --include='*_test.go' cmd internal | wc -l)
each=$((seconds / 2 / targets))
[ "$each" -ge 1 ] || each=1
echo "fuzzing, $targets targets for ${each}s each"
sh internal/tools/fuzz.sh "${each}s" > "$out/fuzz" 2>&1 || failed=1
awk '/ Fuzz[A-Za-z]*$/ { name = $1 " " $2 } /execs: / { for (i = 1; i < NF; i++) if ($i == "execs:") n[name] = $(i + 1) }
  END { for (k in n) { printf "  %-45s %9d\n", k, n[k]; sum += n[k] } printf "fuzzed inputs: %d\n", sum }' "$out/fuzz" | sort
tail -1 "$out/fuzz"
[ "$failed" = 0 ] && echo "siege: everything held" || { grep -A30 '^--- FAIL' "$out/fuzz" || true; echo "siege: something gave way"; exit 1; }
