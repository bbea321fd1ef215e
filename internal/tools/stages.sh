#!/bin/sh
# stages.sh STAGE…: runs stages of the tests, each a target of the Makefile, JOBS at a time (2 where nothing is said), and prints what
# each said once it has ended. At the end stand what was left out, and a line a stage: its seconds, and those of processor time.
#
# A stage that fails stops no other. A stage that cannot do something on this machine prints a line that begins with "not run: ", then
# what, and why. That is no failure, except in CI: what CI does not run, nobody runs.
set -eu

if [ "$1" = --one ]; then
  stage=$2
  echo "..... $stage"
  begin=$(date +%s)
  result=ok
  ${MAKE:-make} --no-print-directory "$stage" >"$STAGES/$stage.log" 2>&1 </dev/null || result=FAIL
  seconds=$(($(date +%s) - begin))
  times >"$STAGES/$stage.times" # in no other process: they are those of this one's children
  worked=$(awk -F'[ms ]+' 'END { printf "%.0f", $1 * 60 + $2 + $3 * 60 + $4 }' "$STAGES/$stage.times")
  printf '%-5s %-20s %5d s %5d s of processor time\n' "$result" "$stage" "$seconds" "$worked" >"$STAGES/$stage.result"
  until mkdir "$STAGES/printing" 2>/dev/null; do sleep 0.1; done
  printf '\n===== %s\n' "$stage"
  cat "$STAGES/$stage.log" "$STAGES/$stage.result"
  rmdir "$STAGES/printing"
  exit
fi

STAGES=$(mktemp -d)
export STAGES
trap 'rm -rf "$STAGES"' EXIT
trap 'exit 1' HUP INT TERM
begin=$(date +%s)
{ ${MAKE:-make} --no-print-directory needs build && touch "$STAGES/ready"; } 2>&1 | tee "$STAGES/needs.log"
[ -e "$STAGES/ready" ] || exit 1
printf '%s\n' "$@" | xargs -n 1 -P "${JOBS:-2}" sh "$0" --one

echo
left_out=$(for stage in needs "$@"; do sed -n 's/^not run: /  /p' "$STAGES/$stage.log"; done | sort -u)
if [ -n "$left_out" ]; then
  printf 'Left out on this machine:\n%s\n\n' "$left_out"
fi
for stage; do cat "$STAGES/$stage.result"; done
failed=$(for stage; do cat "$STAGES/$stage.result"; done | grep -c '^FAIL' || true)
echo "in all $(($(date +%s) - begin)) s"
echo "stages: $(($# - failed)) passed, $failed failed"
[ "$failed" = 0 ] || exit 1
if [ -n "$left_out" ] && [ "${CI:-}" = true ]; then
  echo "CI=true: what is left out is a failure" >&2
  exit 1
fi
