#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The reader of TOML for a Python before 3.11 (tests/lib/read_toml.py), here as if its library had
# none: it gives what the library's reader does, and an error where it reads less.

bats_require_minimum_version 1.5.0

setup() { cd "$BATS_TEST_DIRNAME/.."; }

# Prints JSON of each file, by the library's reader or by the stand-in.
read_files() { # library|stand-in FILE...
  PYTHONPATH=tests/lib python3 -B -c '
import json, sys
if sys.argv[1] == "stand-in":
    sys.modules["tomllib"] = None
import read_toml
assert hasattr(read_toml, "Reader") == (sys.argv[1] == "stand-in")
for name in sys.argv[2:]:
    with open(name, "rb") as f:
        print(name, json.dumps(read_toml.load(f)))' "$@"
}

@test "all files of this tree are read as the library reads them" {
  mapfile -t files < <(git ls-files '*.toml')
  [ ${#files[@]} -ge 150 ]
  read_files library "${files[@]}" >"$BATS_TEST_TMPDIR/library"
  read_files stand-in "${files[@]}" | diff "$BATS_TEST_TMPDIR/library" -
}

@test "what the files of this tree could have, and an empty one" {
  local file=$BATS_TEST_TMPDIR/a.toml
  cat >"$file" <<'T'
# comment
"quoted key" = 'literal \n' # behind a value
a.b = -1_000
a.c = {x = "y", z = [1, true, ["#"]]}
text = """
line \
   goes "on" \"so\"	with a tab"""
raw = '''
 as it is \'''
many = [
  "x", # one
  "y",
]
[[t]]
n = 1
[t.below]
m = false
[[t]]
T
  printf '\r\n[u.v]\r\nx = "\\u00e4"\r\n' >>"$file"
  : >"$BATS_TEST_TMPDIR/empty.toml"
  read_files library "$file" "$BATS_TEST_TMPDIR/empty.toml" >"$BATS_TEST_TMPDIR/library"
  read_files stand-in "$file" "$BATS_TEST_TMPDIR/empty.toml" | diff "$BATS_TEST_TMPDIR/library" -
}

@test "anything else is an error with its line" {
  local file=$BATS_TEST_TMPDIR/a.toml text
  for text in 'a = 1.5' 'a = 1979-05-27' 'a = "\U00000041"' 'a = "x' 'a 1' 'a = 1 2' 'a' '[a' 'a = [1' \
    'a = nan' $'a = 1\na = 2' $'a = 1\n[a]' $'a = 1\n[a.b]' $'[x]\n[[x]]' $'[[x]]\n[x]' $'a = 1\n[[a]]'; do
    printf '%s' "$text" >"$file"
    run -1 read_files stand-in "$file"
    [[ ${lines[-1]} =~ ^read_toml\.TOMLDecodeError:\ expected\ .*\(at\ line\ [12]\)$ ]] || {
      echo "$text: $output"
      return 1
    }
  done
}
