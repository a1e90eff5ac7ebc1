# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Memory bandwidth of a node: ours against STREAM's four kernels on all its CPUs, and against
# mbw on one. Debian has no package of STREAM: stream_kernels.c follows its run rules. mbw's third
# method, MCBLOCK, is left out: it reads the same 256 KiB for each block (worker() of mbw.c), so that
# caches answer. A guest is told less than the cache that its host has, and what ordinary stores leave
# there makes the peers fast: hence 512 MiB at least.

stream_of() { awk -v k="$1" '$1 == k { print $2 }' "$work/stream.out"; }
stream_best() { awk '$1 != "touch_ms" && $2 > b { b = $2 } END { print b }' "$work/stream.out"; }
mbw_best() {
  awk '$1 ~ /^[0-9]+$/ && $3 ~ /MEMCPY|DUMB/ && $(NF-1) > b { b = $(NF-1) }
    END { printf "%.0f\n", b * 2 * 1048576 }' "$work/mbw.out"
}
our_copy() { jq .copy "$work/$1.out"; }

# shellcheck disable=SC2154 # refs and rounds are the frame's
part_memory() {
  local mib page page1 list i one mbw=
  mib=$(cache_mib 512)
  page=$(page_for $((3 * mib)))
  page1=$(page_for $((2 * mib)))
  list=$(cpus_of_node | paste -sd,)
  one=${list%%,*}
  note "memory bandwidth of node $node: a working set of ours, and arrays of the peers, of $mib MiB;" \
    "pages of $page, beside mbw of $page1. All count what is read and what is written (mbw's MiB" \
    "twice), and none what an ordinary store reads before it writes: our stores pass the caches" \
    "by and cause no such read. Ours is the median of windows, a peer's its best pass."
  head_line
  ! have mbw mbw || mbw=yes
  for ((i = 0; i < rounds; i++)); do
    ours memory memory_bandwidth --node "$node" --page "$page" --size "${mib}M"
    peer stream "$refs/stream_kernels" "$list" "$mib" "$(page_kib "$page")"
    figures copy "$(our_copy memory)" "$(stream_of copy)"
    figures triad "$(our_copy memory)" "$(stream_of triad)"
    figures stream "$(our_copy memory)" "$(stream_best)"
    [ -n "$mbw" ] || continue
    ours memory1 memory_bandwidth --node "$node" --page "$page1" --size "${mib}M" --threads 1
    peer mbw taskset -c "$one" mbw "$mib"
    figures mbw "$(our_copy memory1)" "$(mbw_best)"
  done
  row copy "copy / STREAM copy" - GB/s 1e9
  row triad "copy / STREAM triad" - GB/s 1e9
  row stream "copy / STREAM's best kernel" higher GB/s 1e9 memory stream
  [ -z "$mbw" ] || row mbw "copy, 1 CPU / mbw's best" higher GB/s 1e9 memory1 mbw
}
