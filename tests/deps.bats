#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Setting up a machine (tests/lib/deps.sh, tests/lib/need): what is installed, what is refused, and
# the one line where it can't be. apt-get and dpkg-query are stand-ins here, each call of apt-get is
# noted; tests/long/bare has the real ones.
bats_require_minimum_version 1.5.0

setup() {
  top=$BATS_TEST_DIRNAME/..
  deps=$top/tests/lib/deps.sh
  fake=$BATS_TEST_TMPDIR/bin
  mkdir "$fake"
  : >"$BATS_TEST_TMPDIR/apt"
  : >"$BATS_TEST_TMPDIR/plan"
  # All but those of $LACKS is installed, those of $FOREIGN for another CPU alone.
  stand_in dpkg-query 'for p; do arch=amd64; case $p in -*|*" "*) continue ;; python3-*) arch=all ;; esac
    case " $FOREIGN " in *" $p "*) arch=i386 ;; esac
    case " $LACKS " in *" $p "*) echo "$p $arch not-installed" ;; *) echo "$p $arch installed" ;; esac; done'
  stand_in dpkg 'echo amd64'
  stand_in apt-get 'echo "$*" >>"$BATS_TEST_TMPDIR/apt"
    case " $* " in
      *" -s "*) cat "$BATS_TEST_TMPDIR/plan" ;;
      *" update "* | *" update") exec "$BATS_TEST_TMPDIR/bin/update" ;;
      *" install "*) exec "$BATS_TEST_TMPDIR/bin/install" ;;
    esac'
  stand_in install ''
  stand_in update ''
  # Whoever runs the tests.
  stand_in id 'echo 0'
  export LACKS='' FOREIGN=''
  unset RAILHEAD_DEPS
  PATH=$fake:$PATH
}

stand_in() { # NAME SCRIPT
  printf '#!/bin/sh\n%s\n' "$2" >"$fake/$1"
  chmod 755 "$fake/$1"
}

calls() { cat "$BATS_TEST_TMPDIR/apt"; }

installs_nothing() { ! grep -v -e ' -s ' -e ' update$' "$BATS_TEST_TMPDIR/apt"; }

@test "where nothing is missing, nothing is said and apt-get is not run" {
  run -0 "$deps" build test vm
  [ -z "$output" ]
  [ -z "$(calls)" ]
}

@test "only what is missing is installed" {
  LACKS="jq fio" run -0 "$deps" bench
  [[ $output == "# installing, "*": fio jq"* ]]
  calls | grep -qE ' install -y .* --no-remove .* fio jq$'
}

@test "a package of another architecture is missing" {
  FOREIGN=libyaml-dev run -0 "$deps" build
  calls | grep -qE ' install -y .* libyaml-dev$'
}

@test "an upgrade that a package needs is named before it happens" {
  printf 'Inst libsystemd0 [252.1] (252.9 Debian:12 [amd64])\nInst libsystemd-dev (252.9 Debian:12 [amd64])\n' \
    >"$BATS_TEST_TMPDIR/plan"
  stand_in install 'echo BEFORE >&2; cp "$SAID" "$SAID.before"'
  export SAID=$BATS_TEST_TMPDIR/said
  LACKS=libsystemd-dev "$deps" build >"$SAID" 2>&1
  grep -qx '# upgrading what these packages need in another version: libsystemd0' "$SAID.before"
}

@test "nothing is removed" {
  printf 'Remv dracut [1]\nInst jq (1.6 Debian:12 [amd64])\n' >"$BATS_TEST_TMPDIR/plan"
  LACKS=jq run -1 "$deps" bench
  [[ ${lines[-1]} == *"Debian packages are missing: jq (apt-get would remove dracut); run: $deps bench" ]]
  installs_nothing
}

@test "old lists are read again when a package can't be had" {
  stand_in install '[ -e "$BATS_TEST_TMPDIR/fresh" ] || { echo "E: Unable to locate package jq" >&2; exit 100; }'
  stand_in update ':>"$BATS_TEST_TMPDIR/fresh"'
  LACKS=jq run -0 "$deps" bench
  [ "$(calls | grep -c -- ' -y ')" = 2 ]
}

@test "without a network one line has the packages, the mirror's answer and the command" {
  stand_in install 'echo "E: Failed to fetch http://mirror.invalid/jq.deb  Temporary failure resolving" >&2
    echo "E: Unable to fetch some archives" >&2; exit 100'
  LACKS="jq fio" run --separate-stderr -1 "$deps" bench
  local answer="Failed to fetch http://mirror.invalid/jq.deb  Temporary failure resolving"
  [ "$stderr" = "$deps: Debian packages are missing: fio jq ($answer); run: $deps bench" ]
  # The same where there are no lists, and none can be had.
  stand_in install 'echo "E: Unable to locate package fio" >&2; exit 100'
  stand_in update 'echo "W: Failed to fetch http://mirror.invalid/InRelease  Temporary failure resolving"'
  LACKS="jq fio" run --separate-stderr -1 "$deps" bench
  [[ $stderr == *" (Failed to fetch http://mirror.invalid/InRelease  Temporary failure resolving); run: "* ]]
}

@test "RAILHEAD_DEPS=check reports in one line, and runs nothing" {
  LACKS="jq fio" RAILHEAD_DEPS=check run --separate-stderr -1 "$deps" bench
  [ -z "$output" ]
  [ "$stderr" = "$deps: Debian packages are missing: fio jq; run: $deps bench" ]
  [ -z "$(calls)" ]
  RAILHEAD_DEPS=check run -0 "$deps" bench
  [ -z "$output" ]
}

@test "RAILHEAD_DEPS misspelt is an error, and no installation" {
  LACKS=jq RAILHEAD_DEPS=chek run -2 "$deps" bench
  [[ $output == *"RAILHEAD_DEPS=chek: the one value is check, which installs nothing" ]]
  [ -z "$(calls)" ]
}

@test "an ordinary user gets one line, with the command for root" {
  stand_in id 'echo 1000'
  stand_in sudo ''
  LACKS=jq run --separate-stderr -1 "$deps" bench
  [ -z "$output" ]
  [ "$stderr" = "$deps: Debian packages are missing: jq; run: sudo $deps bench" ]
  [ -z "$(calls)" ]
}

@test "each goal that the README names sets up what it lacks, and plain make does not" {
  cd "$top"
  for goal in demo-sim check-fast check bench lint fuzz; do
    make -n "$goal" 2>/dev/null | grep -m 1 deps.sh >"$BATS_TEST_TMPDIR/first" || :
    grep -qE '^tests/lib/deps.sh [a-z]' "$BATS_TEST_TMPDIR/first" || { echo "$goal"; false; }
  done
  run -0 grep deps.sh tests/vm/demo
  make -n -B all | grep -v 'RAILHEAD_DEPS=check tests/lib/deps.sh build' | { ! grep deps.sh; }
}

@test "all that a build lacks is named at once, pkg-config among it" {
  cd "$top"
  build() { run --separate-stderr -2 make -s BUILD="$BATS_TEST_TMPDIR/build" "$@" "$BATS_TEST_TMPDIR/build/deps-ok"; }
  LACKS="pkg-config libyaml-dev" build PKG_CONFIG=no-pkg-config
  [ "${stderr_lines[0]}" = "tests/lib/deps.sh: Debian packages are missing: libyaml-dev pkg-config; run: tests/lib/deps.sh build" ]
  [ -z "$(calls)" ]
  # Where Debian's packages are all there: by pkg-config's names.
  build PKG_CONFIG=no-pkg-config CC=no-cc
  [[ ${stderr_lines[0]} == "railhead needs a C compiler (no-cc), pkg-config, which then finds blkid jansson "*" yaml-0.1; "* ]]
  build LIBS="no-one jansson no-two"
  [ "${stderr_lines[0]}" = "railhead needs no-one, no-two; install the packages that have them" ]
  # A tree that has no tests, as a package build.
  mkdir "$BATS_TEST_TMPDIR/tree"
  cp -r Makefile VERSION src "$BATS_TEST_TMPDIR/tree"
  run --separate-stderr -2 make -s -C "$BATS_TEST_TMPDIR/tree" LIBS=no-one
  [[ ${stderr_lines[0]} == "railhead needs no-one; "* ]]
}

# With -k, make goes on with all that does not wait for what failed.
makes_nothing() { # LINE GOAL VARIABLE...
  run --separate-stderr -2 make -k -j4 BUILD="$BATS_TEST_TMPDIR/build" DESTDIR="$BATS_TEST_TMPDIR/tree" "${@:2}"
  echo "$2: $output; $stderr"
  [ -z "$(grep -vE '^make(\[[0-9]+\])?: ' <<<"$output")" ]
  # shellcheck disable=SC2053 # a pattern
  [[ $(grep -vE '^make(\[[0-9]+\])?: ' <<<"$stderr") == $1 ]]
  # The marks of what is there may be.
  run find "$BATS_TEST_TMPDIR/build" "$BATS_TEST_TMPDIR/tree" -type f ! -name '*-ok'
  echo "$output"
  ! grep -v '^find: ' <<<"$output"
}

@test "before the set-up of a goal has succeeded, nothing is built, and nothing beside it" {
  cd "$top"
  export LACKS=libyaml-dev RAILHEAD_DEPS=check
  for goal in check-fast check lint lies check-pictures demo-sim bench-gate fuzz schema; do
    makes_nothing "tests/lib/deps.sh: Debian packages are missing: libyaml-dev; run: tests/lib/deps.sh [a-z]*([a-z0-9 ])" "$goal"
  done
}

@test "where a library is missing, plain make builds nothing and make install installs nothing" {
  cd "$top"
  for goal in all build-tests install; do
    makes_nothing "railhead needs no-one; install the packages that have them" "$goal" LIBS=no-one
  done
}
