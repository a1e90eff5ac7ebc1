#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What runs the fuzz targets in `make check` (tests/fuzz/replay.c, tests/lib/run-fuzz), with a target
# that dies of the letter X.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_DIRNAME/.."
  run_fuzz=$PWD/tests/lib/run-fuzz
  target=$BATS_TEST_TMPDIR/fuzz_toy
  toy=tests/fuzz/corpus/toy
  cat >"$BATS_TEST_TMPDIR/toy.c" <<'C'
#include "fuzz.h"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	must(!size || !memchr(data, 'X', size));
	return 0;
}
C
  cc -D_GNU_SOURCE -std=gnu11 -Isrc -Itests/fuzz -o "$target" "$BATS_TEST_TMPDIR/toy.c" \
    tests/fuzz/replay.c src/base/mem.c src/base/str.c src/base/vec.c
  cd "$BATS_TEST_TMPDIR" # the tally below build/ is this one's own
  mkdir -p "$toy"
}

# MUTATIONS: all inputs made of the corpus, by number
made() {
  for i in $(seq "$1"); do "$target" -write="$i" "$toy" | od -An -c; done
}

@test "a target without a corpus, or with an empty one, fails" {
  run -1 "$run_fuzz" replay "$target"
  [[ $output == *"$toy: no inputs for the fuzz target toy;"*"FAIL $target"* ]]
  run -1 "$target" "$toy"
  [[ $output == *"toy: no inputs"* ]]
  rmdir "$toy"
  run -1 "$run_fuzz" replay "$target"
  run -1 "$run_fuzz" fuzz 1 "$target"
  [[ $output == *"$toy: no inputs for the fuzz target toy;"* ]]
}

@test "the inputs that are made are the same in each run, and on each machine" {
  printf 'some text\n' >"$toy/a"
  printf '\0\1\2' >"$toy/b"
  made 100 >"$BATS_TEST_TMPDIR/one"
  made 100 | diff "$BATS_TEST_TMPDIR/one" -
  [ "$(sort -u "$BATS_TEST_TMPDIR/one" | wc -l)" -gt 50 ]
  [ "$(sha256sum <"$BATS_TEST_TMPDIR/one" | cut -c1-16)" = b60fe823c26cc8ba ]
  run -0 "$target" -mutations=1 "$toy"
  [[ $output == *"2 inputs, 1 made of them" ]]
}

@test "an input that the target does not survive is kept, and is the same again" {
  printf 'W\n' >"$toy/a"
  run -1 "$run_fuzz" replay "$target"
  echo "$output"
  [[ $output == *"toy.c:4: not so:"*"the input is $target.broken: add it to $toy"*"FAIL $target"* ]]
  grep -q X "$target.broken"
  run -134 "$target" "$target.broken"
  rm "$toy/a"
  printf 'X' >"$toy/b"
  run -1 "$run_fuzz" replay "$target"
  [[ $output == *"# $toy/b"*"not so:"*"FAIL $target"* ]]
}
