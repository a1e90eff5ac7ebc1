# SPDX-License-Identifier: GPL-2.0-or-later
# A clock that a test puts forward (tests/lib/clock.c): deadlines are so long that no machine is too
# slow for what comes before them, and over at once where the test says so.
# shellcheck shell=bash

# shellcheck source=tests/lib/eventually.bash
. "${BASH_SOURCE[0]%/*}/eventually.bash"

clock=$BATS_TEST_TMPDIR/clock
clock_library=$(realpath -e "$BATS_TEST_DIRNAME/../build/test/clock.so") || {
  echo "the clock of the tests is not built: make build-tests" >&2
  return 1
}

on_clock() { # COMMAND...
  LD_PRELOAD=$clock_library TEST_CLOCK=$clock "$@"
}

# Whose clock stands otherwise.
on_standing_clock() { # COMMAND...
  TEST_CLOCK_KIND=stands on_clock "$@"
}

# ... goes at a tenth of the machine's speed: what must be done within its second has ten.
on_slow_clock() { # COMMAND...
  TEST_CLOCK_KIND=crawls on_clock "$@"
}

# For programs of other users, who then reach it: gates whose children put it forward.
share_clock() {
  chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
  : >"$clock"
  chmod 666 "$clock"
}

# Whether a railhead of on_clock that was started in the background sleeps: in poll(2), ppoll(2),
# nanosleep(2) or clock_nanosleep(2).
sleeps() { # PID: $!
  grep -qE '^(7|271|35|230) ' "/proc/$(pgrep -P "$1")/syscall" 2>/dev/null
}

# Wherever it runs: its own children can say so, too.
pass() { # MILLISECONDS
  truncate -s "+$1" "$clock"
}

# A program and its forks: that of a railhead which waits for no worker is 1.
count_processes() { # COMMAND...
  pgrep -cxf "$*" || :
}

# Runs beside the test: so much time passes as soon as a command succeeds. Ends with the test.
pass_when() { # MILLISECONDS COMMAND...
  { eventually "${@:2}" && pass "$1"; } 3>&- &
}
