# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Memory latency: ours against a plain chase of 5 s over the same size on the same CPU and pages;
# its best is its best lap. Debian's main has no program that chases pointers (lmbench, which has
# lat_mem_rd, is in non-free): the peer is chase.c.

# shellcheck disable=SC2154 # refs and rounds are the frame's
part_latency() {
  local mib page i cpu
  mib=$(cache_mib 64)
  page=$(page_for "$mib")
  cpu=$(cpus_of_node | tail -n 1)
  note "memory latency of node $node: $mib MiB on pages of $page, CPU $cpu. The same walk through" \
    "all lines of as large a buffer. Ours is the median of windows of milliseconds, a lap of the" \
    "chase takes so long that the time of other tasks is in each."
  head_line
  for ((i = 0; i < rounds; i++)); do
    peer chase "$refs/chase" "$cpu" "$mib" "$(page_kib "$page")" 5
    ours latency memory_latency --node "$node" --page "$page" --size "${mib}M"
    figures chase "$(jq .value "$work/latency.out")" \
      "$(awk '$1 == "best" { print $2 }' "$work/chase.out")"
  done
  row chase "latency / chase's best lap" lower ns 1 latency chase
}
