#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/lint/seeds fills the table of docs/seeds.md from docs/evidence.md, and says what is wrong there.
# shellcheck disable=SC2016 # backticks are the page's

bats_require_minimum_version 1.5.0

setup() {
  top=$BATS_TEST_DIRNAME/..
  tree=$BATS_TEST_TMPDIR/tree
  mkdir -p "$tree/docs" "$tree/tests/lint" "$tree/build"
  cp "$top/tests/lint/seeds" "$tree/tests/lint"
  ln -s "$(readlink -f "$top/build/railhead")" "$tree/build/railhead"
  touch "$tree/tests/one.bats" "$tree/tests/two.bats"
  cat >"$tree/docs/evidence.md" <<'M'
| key | evidence | seen by |
|---|---|---|
| link.SET.mtu | kernel (igb; simnode has it too), fixture | `tests/one.bats`: as ip shows it |
| link.SET.up | none | |
| gate: jitter, memory_latency (max) | fixture (the kernel's files) | `tests/two.bats`, `tests/one.bats` |
| railhead survey | simnode | `tests/gone.bats` |
M
}

page() { # ROWS...
  printf '%s\n' 'Of 0 rows' 'Of 9 rows 9 are whole.' '| # | guide | asks for | verdict | railhead | level | tests |' \
    '|---|---|---|---|---|---|---|' "$@" >"$tree/docs/seeds.md"
}

@test "level and tests are those of what a row names, the weakest of several; the sum is counted" {
  page '| 1 | 0 | frames | whole | `link.SET.mtu` | stale | |' \
    '| 2 | 0, 1 | quiet | whole | frames by `link.SET.mtu`, then `gate: jitter` | | |' \
    "| 3 | 2 | weather | others: the sky's | | | |" '| 4 | 2 | more | open: latency | `gate: memory_latency` | | |'
  run -1 "$tree/tests/lint/seeds"
  [[ $output == *"docs/seeds.md is not as docs/evidence.md has it: make keys"* ]]
  run -0 "$tree/tests/lint/seeds" --write
  run -0 "$tree/tests/lint/seeds"
  [ "$(sed -n '2p;5,$p' "$tree/docs/seeds.md")" = "Of 4 rows 2 are whole, 0 have no knob, 1 are others' business, 1 are open.
| 1 | 0 | frames | whole | \`link.SET.mtu\` | kernel | \`tests/one.bats\` |
| 2 | 0, 1 | quiet | whole | frames by \`link.SET.mtu\`, then \`gate: jitter\` | fixture | \`tests/one.bats\` \`tests/two.bats\` |
| 3 | 2 | weather | others: the sky's | | | |
| 4 | 2 | more | open: latency | \`gate: memory_latency\` | fixture | \`tests/two.bats\` \`tests/one.bats\` |" ]
}

@test "a key, check or verb that is not in the language, without evidence, or whose test is gone is named" {
  page '| 1 | 0 | a | whole | `link.SET.mtus` | | |' '| 2 | 0 | b | whole | `gate: jitters` | | |' \
    '| 3 | 0 | c | whole | `railhead surveys` | | |' '| 4 | 0 | d | whole | `link.SET.up` | | |' \
    '| 5 | 0 | e | whole | `railhead survey` | | |' '| 6 | 0 | f | whole | `sysctl.KEY` | | |'
  run -1 "$tree/tests/lint/seeds" --write
  [ "$output" = "docs/seeds.md:5: row 1: link.SET.mtus: there is no such key, check or verb
docs/seeds.md:6: row 2: gate: jitters: there is no such key, check or verb
docs/seeds.md:7: row 3: railhead surveys: there is no such key, check or verb
docs/seeds.md:8: row 4: link.SET.up: docs/evidence.md has no evidence of it
docs/seeds.md:9: row 5: tests/gone.bats: there is no such test
docs/seeds.md:10: row 6: sysctl.KEY: docs/evidence.md has no evidence of it" ]
}

@test "a row has its number and a verdict; one that is whole says by what" {
  page '| 1 | 0 | a | done | `link.SET.mtu` | | |' '| 3 | 0 | b | whole | | | |' '| 3 | 0 | c | open: | | | |'
  run -1 "$tree/tests/lint/seeds" --write
  [[ $output == *"row 1: 'done' is no verdict"*"row 3 where 2 should be"*"row 3: whole, and no key, check or verb"*"row 3: 'open:' is no verdict"* ]]
}

@test "docs/seeds.md: the 127 rows; none of limits, mounts, CPUs or queues is open" {
  [ "$(grep -c '^| [0-9]* |' "$top/docs/seeds.md")" -eq 127 ]
  run -1 grep -E '^\| [0-9]+ \|.*\| open: .*`(limits|mounts|cpu|memory|irq|block|kernel_args\.isolate)' "$top/docs/seeds.md"
}
