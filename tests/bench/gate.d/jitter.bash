# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Jitter: p99.99 of ours and of cyclictest (10 s, a wake-up each 200 us), both at a real-time
# priority on the same CPUs, of the worst of them; and ours as the gate runs it. Printed, not
# judged: cyclictest's has the cost of a timer's interrupt and a wake-up in each sample.

# From cyclictest's histogram (microseconds, a column each CPU): the largest p99.99 of a CPU.
cyclictest_p9999() {
  awk '/^[0-9]/ { for (i = 2; i <= NF; i++) { n[i] += $i; c[NR, i] = $i } us[NR] = $1; f = NF }
    /^# Histogram Overflows:/ { for (i = 4; i <= NF; i++) over[i - 2] = $i }
    END { for (i = 2; i <= f; i++) { left = (n[i] + over[i]) / 10000 - over[i]; worst = "overflow"
      for (r = NR; r > 0 && left >= 0; r--) if (r in us) { left -= c[r, i]; worst = us[r] + 0 }
      if (worst == "overflow" || worst > most) most = worst } print most }' "$work/cyclictest.out"
}

# chrt keeps the policy over exec; half a second at 100 % is below sched_rt_runtime_us.
part_jitter() {
  local list i
  if [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" = -1 ]; then
    echo "kernel.sched_rt_runtime_us is -1: real-time work has no limit on this machine" >&2
    return 1
  fi
  list=${JITTER_CPUS:-$(cat /sys/devices/system/cpu/isolated)}
  list=${list:-$(cpus_of_node | paste -sd,)}
  echo "# jitter of CPUs $list"
  for ((i = 0; i < rounds; i++)); do
    timed cyclictest cyclictest -m -q -p 80 -i 200 -D 10 -h 20000 -a "$list" \
      -t "$(tr , '\n' <<<"$list" | expand_ranges | wc -l)"
    ours jitter jitter --cpus "$list"
    timed rt chrt -f 80 "$bench" jitter --cpus "$list"
    jq -r --arg peer "$(cyclictest_p9999)" --slurpfile rt "$work/rt.out" '"p99.99: ours " +
      "\(.value / 1000) us (at a real-time priority \($rt[0].value / 1000) us), cyclictest " +
      "\($peer) us; longest \(.max / 1000) us; steal \(.steal_ms) ms, SMIs \(.smi), most often " +
      "\(.top_interrupt)"' "$work/jitter.out"
  done
  head_line
  judge_times "jitter / cyclictest" jitter cyclictest
  echo
}
