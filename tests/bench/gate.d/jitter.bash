# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Jitter: p99.99 of ours and of cyclictest (5 s, a wake-up each 200 us) on the same CPUs, of the worst
# of them, and the longest. cyclictest has an ordinary priority here as ours has, locks no memory
# and leaves /dev/cpu_dma_latency alone (--default-system).

# From cyclictest's histogram (microseconds, a column each CPU): the largest p99.99 of a CPU.
cyclictest_p9999() {
  awk '/^[0-9]/ { for (i = 2; i <= NF; i++) { n[i] += $i; c[NR, i] = $i } us[NR] = $1; f = NF }
    /^# Histogram Overflows:/ { for (i = 4; i <= NF; i++) over[i - 2] = $i }
    /^# Max Latencies:/ { for (i = 4; i <= NF; i++) longest = $i + 0 > longest ? $i + 0 : longest }
    END { for (i = 2; i <= f; i++) { left = (n[i] + over[i]) / 10000 - over[i]; worst = longest
      for (r = NR; r > 0 && left >= 0; r--) if (r in us) { left -= c[r, i]; worst = us[r] + 0 }
      most = worst > most ? worst : most } print most * 1000, longest * 1000 }' "$work/cyclictest.out"
}

# shellcheck disable=SC2154 # rounds is the frame's
part_jitter() {
  local list i p9999 longest
  list=${JITTER_CPUS:-$(cat /sys/devices/system/cpu/isolated)}
  list=${list:-$(cpus_of_node | paste -sd,)}
  note "jitter of CPUs $list, at an ordinary priority. Ours looks at the clock all the time, and" \
    "tells how long work that comes at a random moment waits; cyclictest sleeps, and has a timer's" \
    "interrupt and a wake-up in each sample, but gets its CPU at once, as who sleeps does, where" \
    "others want the CPU too. The longest says more of the length of the run than of the machine."
  head_line
  have cyclictest rt-tests || return 0
  for ((i = 0; i < rounds; i++)); do
    peer cyclictest cyclictest --policy=other --priority=0 --default-system -q -i 200 -D 5 \
      -h 20000 -a "$list" -t "$(tr , '\n' <<<"$list" | expand_ranges | wc -l)"
    ours jitter jitter --cpus "$list"
    read -r p9999 longest < <(cyclictest_p9999)
    figures jitter "$(jq .value "$work/jitter.out")" "$p9999"
    figures longest "$(jq .max "$work/jitter.out")" "$longest"
  done
  row jitter "p99.99 / cyclictest's" - us 1e3 jitter cyclictest
  row longest "longest / cyclictest's" - us 1e3
}
