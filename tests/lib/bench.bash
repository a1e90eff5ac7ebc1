# SPDX-License-Identifier: GPL-2.0-or-later
# What the benchmarks share: a run that must not fail, its system calls, its median time.
# The sourcing script sets $work, a directory of its own, and $runs.
# shellcheck shell=bash

# Any exit but 0 (done), 5 (pending) is an error of this benchmark.
run() {
  local status=0
  "$@" >"$work/out" 2>&1 || status=$?
  [ $status -eq 0 ] || [ $status -eq 5 ] || {
    cat "$work/out" >&2
    echo "$*: exit $status" >&2
    return 1
  }
}

calls_of() { # NAMES, a pattern; from the summary of strace -c
  awk -v names="^($1)\$" '$NF ~ names { n += $4 } END { print n + 0 }' "$work/summary"
}

usec() { echo $((${EPOCHREALTIME/[.,]/})); }

median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.1f", v[int((NR + 1) / 2)] / 1000 }'; }

# A line of a table of ratios: the first line of a table is what the others are divided by.
ratio_head() { # TITLE
  printf '%-24s %8s %6s %9s %8s\n' "$1" syscalls opens "median ms" ratio
  base=
}

ratio() { # NAME COMMAND...
  local name=$1 i start ms
  shift
  run strace -f -c -o "$work/summary" "$@"
  run "$@" # warm
  for ((i = 0; i < runs; i++)); do
    start=$(usec)
    run "$@"
    echo $(($(usec) - start))
  done >"$work/times"
  ms=$(median <"$work/times")
  : "${base:=$ms}"
  printf '%-24s %8s %6s %9s %8s\n' "$name" "$(calls_of total)" \
    "$(calls_of 'open|openat|openat2')" "$ms" "$(awk "BEGIN { printf \"%.2f\", $ms / $base }")"
}
