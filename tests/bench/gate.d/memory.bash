# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Memory bandwidth of a node: ours against STREAM's four kernels on all its CPUs, and against
# mbw's three methods on one. mbw counts the bytes that are copied, STREAM and we what is read
# and what is written.

stream_best() { awk '$1 != "touch_ms" && $2 > b { b = $2 } END { print b }' "$work/stream.out"; }
mbw_best() {
  awk '$1 ~ /^[0-9]+$/ && $3 ~ /MEMCPY|DUMB|MCBLOCK/ && $(NF-1) > b { b = $(NF-1) }
    END { printf "%.0f\n", b * 2 * 1048576 }' "$work/mbw.out"
}
our_figure() { jq "$2" "$work/$1.out"; }

part_memory() {
  local mib page page1 list i one
  mib=$(cache_mib)
  page=$(page_for $((3 * mib)))
  page1=$(page_for "$mib")
  list=$(cpus_of_node | paste -sd,)
  one=${list%%,*}
  echo "# memory bandwidth of node $node: arrays of $mib MiB, ours and STREAM's on pages of $page,"
  echo "# ours beside mbw on pages of $page1"
  for ((i = 0; i < rounds; i++)); do
    ours memory memory_bandwidth --node "$node" --page "$page"
    timed stream "$refs/stream_kernels" "$list" "$mib" "$(page_kib "$page")"
    figures stream "$(our_figure memory .copy)" "$(stream_best)"
    ours memory1 memory_bandwidth --node "$node" --page "$page1" --threads 1
    timed mbw taskset -c "$one" mbw "$mib"
    figures mbw "$(our_figure memory1 .copy)" "$(mbw_best)"
  done
  head_line
  judge_figures stream "copy / STREAM's best kernel" higher GB/s 1e9
  judge_times "bandwidth / STREAM" memory stream
  judge_figures mbw "copy, 1 CPU / mbw" higher GB/s 1e9
  judge_times "bandwidth, 1 CPU / mbw" memory1 mbw
  echo
}
