#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The man page of the program and its --help. What the others are held against is in
# tests/unit/test_profile_man.c and test_bench_man.c; that groff and mandoc take them: tests/lint/man.

bats_require_minimum_version 1.5.0
load lib/fakenode

page=$BATS_TEST_DIRNAME/../packaging/man/railhead.8

@test "railhead(8) has each verb with each of its own options, and no other" {
  "$railhead" --help | awk 'NR > 1 && /^  [a-z]/ { print $1 }' | sort >"$BATS_TEST_TMPDIR/verbs"
  sed -n '/^The verbs are:/,/^Options of most verbs/s/^\.It Cm \([a-z]*\).*/\1/p' "$page" | sort -u \
    >"$BATS_TEST_TMPDIR/documented"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/verbs")" -ge 13 ]
  run -0 diff "$BATS_TEST_TMPDIR/verbs" "$BATS_TEST_TMPDIR/documented"
  common=" $(sed -n '/^Options of most verbs/,/^\.Sh/s/^\.It Fl -\([a-z-]*\).*/\1/p' "$page" | xargs) "
  while read -r verb; do
    own=" $(sed -n "s/^\.It Cm $verb\( .*\)/\1/p" "$page" | grep -oE 'Fl -[a-z-]+' | sed 's/Fl -//' | xargs) "
    for option in $("$railhead" "$verb" --help | sed -n 's/^  --\([a-z-]*\).*/\1/p'); do
      [[ $common == *" $option "* || $own == *" $option "* ]] || {
        echo "railhead(8) has no --$option of $verb"
        return 1
      }
    done
    for option in $own; do
      "$railhead" "$verb" --help | grep -q "^  --$option " || {
        echo "railhead(8): $verb takes no --$option"
        return 1
      }
    done
  done <"$BATS_TEST_TMPDIR/verbs"
}

@test "railhead(8) has each exit code of --help" {
  codes=$("$railhead" --help | sed -n '/^Exit codes/,$p' | tr '\n' ' ' | grep -oE '\b[0-9]\b' | xargs)
  [ "$codes" = "0 1 2 3 4 5 6 7 8 9" ]
  [ "$(sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES/s/^\.It \([0-9]\)$/\1/p' "$page" | xargs)" = "$codes" ]
}
