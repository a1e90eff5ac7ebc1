#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tests/bench/gate, on stand-ins of our program and of its peers: what it prints of their figures,
# what a peer may do, and what is said of one that is not installed. Runs as root.

bats_require_minimum_version 1.5.0

setup() {
  dir=$BATS_TEST_TMPDIR
  chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$dir" # for who runs the peers
  mkdir "$dir/settings"
  touch "$dir/log"
  chmod 666 "$dir/log"
  export RAILHEAD_BENCH=$dir/ours SETTINGS=$dir/settings STORAGE_MIB=1 ROUNDS=3 JITTER_CPUS=0
  program ours <<<'echo "{\"result\": \"measured\", \"value\": 2e9, \"max\": 5e9, \"p50\": 3e6, \"p99\": 8e6}"'
  program fio <<E2
echo "\$(id -u) \$(grep CapEff /proc/self/status) \$*" >>$dir/log
echo '{"jobs": [{"read": {"bw_bytes": 1e9, "lat_ns": {"percentile": {"50.000000": 4e6, "99.000000": 6e6}}}}]}'
E2
}

program() { # NAME
  { echo '#!/bin/sh' && cat; } >"$dir/$1"
  chmod 755 "$dir/$1"
}

gate() { # STATUS [OPTION...] PART
  PATH=$dir:$PATH run "-$1" --separate-stderr "$BATS_TEST_DIRNAME/bench/gate" "${@:2}"
}

holds() { # PATTERN
  grep -E "$1" <<<"$output" || {
    echo "no '$1' in: $output"
    return 1
  }
}

@test "medians, ratios and times of both, of runs in turn" {
  gate 0 storage
  holds '^# (virtual|metal) machine, [0-9]+ CPUs:'
  holds '^# 3 rounds, ours and the peer in turn'
  holds '^rate / fio +2 GB/s +1 GB/s +2\.00 \(2\.00 \.\. 2\.00\) +[0-9.]+ s +[0-9.]+ s$'
  holds '^p50 / fio.s +3 ms +4 ms +0\.75 \(0\.75 \.\. 0\.75\)$'
  holds '^p99 / fio.s +8 ms +6 ms +1\.33 \(1\.33 \.\. 1\.33\)$'
  [ ! -e "$BATS_TEST_DIRNAME/../build/bench/storage.data" ]
}

@test "as JSON: a line for each row, with spread and times, and nothing else" {
  BENCH_JSON=1 gate 0 storage
  [ "$(jq -r .name <<<"$output")" = "rate / fio
p50 / fio's
p99 / fio's" ]
  jq -se '.[0] | .unit == "GB/s" and .ours == 2 and .peer == 1 and .ratio == 2 and .ratio_from == 2
    and .ratio_to == 2 and .our_seconds > 0 and .peer_seconds > 0' <<<"$output"
  jq -se '.[1] | .ratio_to == 0.75 and (has("our_seconds") | not)' <<<"$output"
}

@test "a peer is an ordinary process of nobody, reads the file past the cache, and writes none" {
  gate 0 storage
  [ "$(wc -l <"$dir/log")" = 3 ]
  [ "$(grep -c '^65534 CapEff:.0* .*--readonly .*--direct=1 ' "$dir/log")" = 3 ]
}

@test "cyclictest has an ordinary priority, locks nothing, tunes nothing; its p99.99 is read from its histogram" {
  # 20,000 wake-ups: two of 7 us, three beyond the histogram, the longest of 500 us
  program cyclictest <<E2
echo "\$*" >>$dir/log
printf '# Histogram\n000003 019995\n000007 000002\n# Max Latencies: 00500\n# Histogram Overflows: 00003\n'
E2
  gate 0 jitter
  holds '^p99\.99 / cyclictest.s +2000000 us +500 us '
  holds '^longest / cyclictest.s +5000000 us +500 us '
  printf '# Histogram\n000003 019997\n000007 000003\n# Max Latencies: 00007\n# Histogram Overflows: 00000\n' >"$dir/said"
  program cyclictest <<<"cat $dir/said"
  gate 0 jitter
  holds '^p99\.99 / cyclictest.s +2000000 us +7 us '
  [ "$(grep -c -- '--policy=other --priority=0 --default-system ' "$dir/log")" = 3 ]
  ! grep -E -- ' (-m|--mlockall|-p|--latency)' "$dir/log"
}

@test "whatever a peer asks of the scheduler: it has an ordinary priority, and goes on" {
  program cyclictest <<E2
chrt -f 1 true && echo "real-time" >>$dir/log
python3 -c 'import ctypes, os
print(ctypes.CDLL(None).sched_setscheduler(0, 1, ctypes.byref(ctypes.c_int(1))), os.sched_getscheduler(0))' >>$dir/log
printf '000003 000001\n# Max Latencies: 00003\n# Histogram Overflows: 00000\n'
E2
  gate 0 jitter
  [ "$(sort -u "$dir/log")" = "0 0" ]
}

@test "a setting that a run changes is an error that names it" {
  echo 1 >"$dir/settings/swappiness"
  chmod 666 "$dir/settings/swappiness"
  program fio <<<"echo 2 >$dir/settings/swappiness; $(tail -n 1 "$dir/fio")"
  gate 2 storage
  [[ $stderr == *"settings of the machine are others than before:"*"< $dir/settings/swappiness:1"*"> $dir/settings/swappiness:2" ]]
}

@test "a peer that is not installed is named, and does not pass for one that agrees" {
  mkdir "$dir/bin"
  find /usr/bin -maxdepth 1 ! -type d -exec ln -s -t "$dir/bin" {} +
  rm -f "$dir/fio" "$dir/bin/fio" "$dir/bin/cyclictest"
  for part in storage:fio:fio jitter:cyclictest:rt-tests; do
    IFS=: read -r name program package <<<"$part"
    PATH=$dir/bin run -0 "$BATS_TEST_DIRNAME/bench/gate" "$name"
    holds "^$program +not installed: tests/lib/deps.sh bench brings Debian's package $package$"
    PATH=$dir/bin run -1 "$BATS_TEST_DIRNAME/bench/gate" --judge "$name"
    PATH=$dir/bin BENCH_JSON=1 run -0 --separate-stderr "$BATS_TEST_DIRNAME/bench/gate" "$name"
    [ -z "$output" ]
    [[ $stderr == "$program "*"not installed:"* ]]
  done
}

# A stand-in that takes a while.
busy() { echo "head -c 200M /dev/zero | md5sum >/dev/null; $(tail -n 1 "$dir/$1")"; }

@test "--judge: what is worse than the peer fails, and says which" {
  program fio <<<"$(busy fio)"
  gate 0 --judge storage
  program ours <<<'echo "{\"result\": \"measured\", \"value\": 9e8, \"p50\": 3e6, \"p99\": 8e6}"'
  gate 1 --judge storage
  holds '^rate / fio .*  below 0\.97$'
  gate 0 storage
  program ours <<<'echo "{\"result\": \"measured\", \"value\": 1e9, \"p50\": 3e6, \"p99\": 8e6}"'
  program fio <<<"$(tail -n 1 "$dir/fio")" # at once, so that no load of the machine makes it the slower one
  program ours <<<"$(busy ours)"
  gate 1 --judge storage
  holds '^rate / fio .*  time above 0\.5$'
}

@test "a peer that fails, or ours that could not measure, ends the run with what was said" {
  program fio <<<'echo "no such engine" >&2; exit 1'
  gate 2 storage
  [[ $stderr == *"no such engine"*"failed"* ]]
  program ours <<<'echo "{\"result\": \"cannot measure\", \"reason\": \"no direct reads\"}"'
  program fio <<<'echo {}'
  gate 2 storage
  [[ $stderr == *"no direct reads"* ]]
}
