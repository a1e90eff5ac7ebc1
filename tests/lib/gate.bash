# SPDX-License-Identifier: GPL-2.0-or-later
# `railhead gate` with the benchmark program of this tree, though none is installed: in a mount
# namespace of its own. The sourcing script has $railhead; what the gate says goes to $gate_out.
# shellcheck shell=bash

bench=$(realpath "${RAILHEAD_BENCH:-$BATS_TEST_DIRNAME/../build/railhead-bench}")

# Says what is missing: never a reason to skip.
gate_need() {
  [ "$(id -u)" -eq 0 ] || {
    echo "the gate gives its children other users and namespaces: run this as root" >&2
    return 1
  }
}

# For setup(): a node that the gate may measure. Needs lib/fakenode.
gate_setup() {
  gate_need || return
  root=$BATS_TEST_TMPDIR/root
  gate_out=$BATS_TEST_TMPDIR/out
  fake_node "$root"
}

# The exit status is the gate's.
gate() { # OPTIONS...
  # shellcheck disable=SC2016 # for the inner shell
  unshare -m sh -ec '
    mount --make-rprivate /
    mount -t tmpfs none /usr/libexec
    mkdir /usr/libexec/railhead
    cp "$1" /usr/libexec/railhead/railhead-bench
    shift
    exec "$@"' sh "$bench" "$railhead" gate --json "$@" >"$gate_out"
}

# One of the gate's measurements: "same" or another state, and a pattern of its reason, causes and remedy.
measured() { # ID STATE [PATTERN]
  jq -e --arg id "$1" --arg state "$2" --arg pattern "${3:-}" '
    .measurements[] | select(.id == $id)
    | .state == $state and ([.reason, .causes, .remedy | select(.)] | join("; ") | test($pattern))' "$gate_out" >/dev/null || {
    echo "not so: $*" >&2
    jq -c --arg id "$1" '.measurements[] | select(.id == $id)' "$gate_out" >&2
    return 1
  }
}
