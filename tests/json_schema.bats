#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The JSON Schema that editors load and `check` are two readings of one set of tables: they
# are held together here. GOLDEN=1 writes json_schema.expected anew: read the difference.

bats_require_minimum_version 1.5.0
load lib/fakenode

fixtures=$BATS_TEST_DIRNAME/fixtures
shipped=$BATS_TEST_DIRNAME/../profiles/railhead-profile.schema.json

# The shipped file, so that what these tests say is true of what is installed.
judge() { "$BATS_TEST_DIRNAME/lib/json_schema.py" "$shipped" "$@"; }

judge_text() {
  cat >"$BATS_TEST_TMPDIR/doc.yaml"
  judge "$BATS_TEST_TMPDIR/doc.yaml"
}

@test "json schema: the shipped file is what the program prints (make schema)" {
  "$railhead" check --schema | diff -u "$shipped" -
}

@test "json schema: check --schema takes no profile" {
  run -2 "$railhead" check --schema a.yaml
  [[ $output == *"--schema does not accept a PROFILE"* ]]
}

@test "json schema: it is a draft-07 schema, and takes what check takes" {
  run -0 judge "$fixtures"/profiles/good/*.yaml "$BATS_TEST_DIRNAME"/../profiles/*.yaml
  [[ $output == *"accepted everything.yaml"* ]]
  run ! grep -v '^accepted ' <<<"$output"
}

# What is in the list, no schema can say: rules between values, bases, files, what YAML turns
# into something else; and what is not implemented yet, which the schema marks and does not
# refuse.
@test "json schema: the bad profiles that it takes are those listed, and no others" {
  judge "$fixtures"/profiles/bad/*.yaml >"$BATS_TEST_TMPDIR/judged"
  sed -n 's/^accepted //p' "$BATS_TEST_TMPDIR/judged" >"$BATS_TEST_TMPDIR/accepted"
  [ -z "${GOLDEN-}" ] || cp "$BATS_TEST_TMPDIR/accepted" "$fixtures/json_schema.expected"
  diff -u "$fixtures/json_schema.expected" "$BATS_TEST_TMPDIR/accepted"
}

@test "json schema: each bad profile was judged" {
  judge "$fixtures"/profiles/bad/*.yaml >"$BATS_TEST_TMPDIR/judged"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/judged")" -eq "$(ls "$fixtures"/profiles/bad/*.yaml | wc -l)" ]
}

@test "json schema: a drop-in has no name, and nothing that only a profile may have" {
  run -0 judge_text <<<'{schema: 1, sysctl: {vm.swappiness: 10, vm.dirty_ratio: null}}'
  [[ $output == "accepted "* ]]
  for only in 'extends: a' 'abstract: true' 'priority: 1' 'version: 1.0'; do
    run -0 judge_text <<<"{schema: 1, $only}"
    [[ $output == "refused "*"name"* ]]
  done
}

# Below each "properties", wherever that is.
keys_without() { # FIELD
  "$railhead" check --schema | jq -r --arg field "$1" '[paths(objects) as $p | select($p[-1] == "properties") |
    getpath($p) | to_entries[] | select((.value | type) == "object") | select(.value[$field] // "" | length < 15) | .key] | unique[]'
}

@test "json schema: each value that is a text has a pattern, or is one of some words" {
  run -0 bash -c '"$1" check --schema | jq -r "[paths(objects) as \$p | getpath(\$p) | select(.description and (.type | tostring | test(\"string\")) and (.pattern or .enum or .anyOf | not)) | \$p[-1]] | unique[]"' - "$railhead"
  [ -z "$output" ]
}

@test "json schema: an editor shows what each key is for, and what each word of a value does" {
  [ "$("$railhead" check --schema | jq '[paths(objects) | select(.[-2] == "properties")] | length')" -gt 200 ]
  run -0 keys_without description
  [ -z "$output" ]
  run -0 keys_without markdownDescription
  [ -z "$output" ]
  # a word that is no number
  run -0 bash -c '"$1" check --schema | jq -r "[.. | objects | select(.enum and .enumDescriptions) |
    [.enum, .enumDescriptions, .markdownEnumDescriptions] | transpose[] |
    select((.[0] | type) == \"string\" and (.[0] | test(\"^[A-Za-z]\")) and (.[1] == \"\" or .[1] == null or .[1] != .[2])) | .[0]][]"' - "$railhead"
  [ -z "$output" ]
  # an enum of values without any: none
  run -0 bash -c '"$1" check --schema | jq "[.. | objects | select(.enum and (.enumDescriptions | not) and (.enum | map(type) | unique == [\"string\"]) and (.enum[0] | test(\"^[a-z]\")))] | length"' - "$railhead"
  [ "$output" = 0 ]
  [[ $("$railhead" check --schema | jq -r '.properties.kernel_args | .. | .iommu? // empty | .markdownDescription') == *'`passthrough`: DMA of the host is not translated'* ]]
}
