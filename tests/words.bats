#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/lint/words: each rule fires, at the right place, and leaves good text alone.

bats_require_minimum_version 1.5.0

words=$BATS_TEST_DIRNAME/lint/words

page() { # NAME, text from stdin
  cat >"$BATS_TEST_TMPDIR/$1"
  run "$words" "$BATS_TEST_TMPDIR/$1"
}

@test "a sentence needs an actor: in a page, a man page and a message" {
  page a.md <<<$'Fine.\n\nGood text. What is slow is measured again.'
  [ "$status" -eq 1 ]
  [ "$output" = "$BATS_TEST_TMPDIR/a.md:3: name the actor: What is slow is measured again." ]
  page a.8 <<<$'.Sh X\nGood.\nWho writes true relies on it.'
  [[ $status -eq 1 && $output == *"name the actor: Who writes"* ]]
  page a.c <<<$'/* What is slow */\nint x;\nf("%s: good text. "\n  "What is slow is measured");'
  [[ $status -eq 1 && $output == *"a.c:3: name the actor: What is slow"* ]]
}

@test "a text needs a thing to begin with" {
  page a.md <<<$'- It is measured again.'
  [[ $status -eq 1 && $output == *"a.md:1: name the thing: It is measured again."* ]]
  page a.c <<<'f("That is measured again");'
  [[ $status -eq 1 && $output == *"name the thing"* ]]
}

@test "words that the rules and the glossary replace" {
  while IFS='=' read -r text instead; do
    page a.md <<<"The node $text here."
    [[ $status -eq 1 && $output == *"a.md:1: write '$instead"* ]] || { echo "$text: $output"; false; }
  done <<'E'
is made anew=again
stands beside it=next to
reads besides=also
is to be there=must be
shall be=must
names a bootloader=boot loader
names a BDF=PCI address
E
}

@test "comments have sentences, too: each paragraph of them, at its line" {
  page a.c <<<$'/*\n * Fine.\n *\n * What is slow\n * is measured anew.\n */\nint x; /* whoever asks */'
  [ "$status" -eq 1 ]
  diff - <(echo "$output") <<E
$BATS_TEST_TMPDIR/a.c:4: name the actor: What is slow is measured anew.
$BATS_TEST_TMPDIR/a.c:4: write 'again': What is slow is measured anew.
$BATS_TEST_TMPDIR/a.c:7: write 'name the actor': whoever asks
E
}

@test "questions, headings and code are left alone" {
  page a.md <<<$'# What it says\n\nWhat is slow? A `bootloader` is.\n\n```\nWhat is shown.\n```\n\n    # anew\n'
  [ "$status" -eq 0 ]
  page a.c <<<$'/* --- what is lost --- */\nf("a node is ready");\n'
  [ "$status" -eq 0 ]
}

@test "a subject has a room and a verb" {
  for said in "docs: the figures as they are" "a change" "tests: what excuses a node" "gate: fixed a race" \
    "gate: adding a check" "gate: fixes a race"; do
    run -1 "$words" --subject "$said"
  done
  for said in "docs: draw the way" "man, tests/vm: print short lines" "gate: pass the figure" "sys: need root" "sys: bring links up"; do
    run -0 "$words" --subject "$said"
  done
}
