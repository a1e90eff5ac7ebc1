# SPDX-License-Identifier: GPL-2.0-or-later
# What the benchmarks share: runs that must not fail, their system calls, races of commands, and tables
# that people read, or JSON: a line for each row, with BENCH_JSON=1. The sourcing script sets $tests, and
# $work, a directory of its own.
# shellcheck shell=bash disable=SC2154

bench=$tests/../build/bench

# Builds programs of the benchmarks; a guest has them, and no make.
built() { # NAME...
  ! command -v make >/dev/null || make -s -C "$tests/.." "${@/#/build/bench/}" >/dev/null
}

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

# Counts a command's system calls: for calls_of.
count() { run strace -f -c -o "$work/summary" "$@"; }

calls_of() { # NAMES, a pattern; from the summary of count
  awk -v names="^($1)\$" '$NF ~ names { n += $4 } END { print n + 0 }' "$work/summary"
}

opens() { calls_of 'open|openat|openat2'; }

# Runs commands by turns; then $work/race has for each: name, median, quartiles, in microseconds.
race() { # RUNS BEFORE NAME COMMAND [NAME COMMAND]...
  "$bench/race" "$@" >"$work/race"
}

# The same line of one command, from microseconds on stdin.
quartiles() { # NAME
  sort -n | awk -v name="$1" '{ v[NR - 1] = $1 } END { print name, v[int(NR / 2)], v[int(NR / 4)], v[int(NR * 3 / 4)] }'
}

usec() { echo $((${EPOCHREALTIME/[.,]/})); }

median_of() { awk -v name="$1" '$1 == name { print $2 }' "$work/race"; } # NAME; of the last race

# "1.25 1.20 1.31 1.0": median and quartiles in milliseconds, and the ratio to another of the race.
shown() { # NAME OTHER
  awk -v name="$1" -v base="$(median_of "$2")" \
    '$1 == name { printf "%.2f %.2f %.2f %.2f", $2 / 1000, $3 / 1000, $4 / 1000, $2 / base }' "$work/race"
}

# --- tables --------------------------------------------------------------------------------------------

# Begins a table; a column is one word, "_" stands for a space.
table() { # TITLE COLUMN...
  title=$1
  shift
  columns=("$@")
  [ -n "${BENCH_JSON:-}" ] || {
    printf '\n# %s\n%-26s' "$title" ""
    printf ' %12s' "${columns[@]//_/ }"
    printf '\n'
  }
}

row() { # NAME VALUE...
  local name=$1 i fields=()
  shift
  if [ -z "${BENCH_JSON:-}" ]; then
    printf '%-26s' "$name"
    printf ' %12s' "$@"
    printf '\n'
    return
  fi
  for ((i = 0; i < $#; i++)); do
    fields+=("${columns[i]}" "${@:i+1:1}")
  done
  jq -nc --arg table "$title" --arg name "$name" \
    '$ARGS.positional as $f | [range(0; $f | length; 2) | {key: $f[.], value: ($f[. + 1] | tonumber? // .)}]
     | {$table, $name} + from_entries' \
    --args "${fields[@]}"
}

TIMES=(median_ms from_ms to_ms ratio)
