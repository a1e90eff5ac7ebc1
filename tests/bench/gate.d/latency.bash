# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Memory latency: ours against a plain chase of 20 s over the same size on the same CPU and pages;
# its best is its best lap.

part_latency() {
  local mib page i cpu
  mib=$(cache_mib)
  page=$(page_for "$mib")
  cpu=$(cpus_of_node | tail -n 1)
  echo "# memory latency of node $node: $mib MiB on pages of $page, CPU $cpu"
  for ((i = 0; i < rounds; i++)); do
    timed chase "$refs/chase" "$cpu" "$mib" "$(page_kib "$page")" 20
    ours latency memory_latency --node "$node" --page "$page" --size "${mib}M"
    figures chase "$(jq .value "$work/latency.out")" \
      "$(awk '$1 == "best" { print $2 }' "$work/chase.out")"
  done
  head_line
  judge_figures chase "latency / 20 s chase" lower ns
  judge_times "latency / 20 s chase" latency chase
  echo
}
