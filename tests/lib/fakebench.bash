# SPDX-License-Identifier: GPL-2.0-or-later
# A stand-in for railhead-bench: in a mount namespace of its own, so as root.
# shellcheck shell=bash

bench_log=$BATS_TEST_TMPDIR/bench.log # a line for each start: its words

# What it prints from now on, as JSON; $1 there is the benchmark's name.
bench_says() { # JSON
  cat >"$BATS_TEST_TMPDIR/bench" <<EOF
#!/bin/sh
echo "\$@" >>'$bench_log'
cat <<'EOT'
$1
EOT
EOF
  chmod 755 "$BATS_TEST_TMPDIR/bench"
}

bench_value() { # NUMBER [MORE-FIELDS]
  bench_says "{\"bench\": \"memory_bandwidth\", \"result\": \"measured\", \"value\": $1, \"unit\": \"B/s\"${2:+, $2}}"
}

bench_runs() { # how often it was started; nothing for never
  [ ! -e "$bench_log" ] || wc -l <"$bench_log"
}

# A command where the stand-in is what the gate starts.
with_bench() { # COMMAND...
  # shellcheck disable=SC2016 # they are the inner shell's
  unshare -m sh -e -c '
    mount -t tmpfs none /usr/libexec
    mkdir /usr/libexec/railhead
    cp "$1" /usr/libexec/railhead/railhead-bench
    shift
    exec "$@"' sh "$BATS_TEST_TMPDIR/bench" "$@"
}
