# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# RDMA on soft-RoCE, in the VM: ours against perftest's ib_write_bw, ib_send_lat and ib_write_bw
# with messages of 8 bytes, each run as people run it. One of our runs gives all three figures, so
# that its time is compared to that of all three, of which the client's alone counts.
#
# A wire that is slower by a fifth: python3 tests/vm/bench_rdma.py slowdown 100

# shellcheck disable=SC2154 # work, tests and rounds are the frame's
rdma_rounds() { # FIGURE: its lines, to where the frame looks for them
  awk -v f="$1" '$1 == f { print $2 }' "$work/rdma.out" >"$work/rdma_$1.ours"
  awk -v f="$1" '$1 == f { print $3 }' "$work/rdma.out" >"$work/rdma_$1.peer"
}

# shellcheck disable=SC2154
part_rdma() {
  "$tests/lib/deps.sh" vm
  python3 "$tests/vm/bench_rdma.py" compare "$rounds" >"$work/rdma.out" || {
    cat "$work/rdma.out" >&2
    exit 2
  }
  for figure in bandwidth latency messages; do rdma_rounds $figure; done
  awk 'NF == 5 && $4 > 0 { ours += $4 } $1 == "messages" { print ours / 3; ours = 0 }
    ' "$work/rdma.out" >"$work/rdma_all.times"
  awk 'NF == 5 && $4 > 0 { peer += $5 } $1 == "messages" { print peer; peer = 0 }
    ' "$work/rdma.out" >"$work/rdma_perftest.times"
  note "RDMA: soft-RoCE on igb in the VM, two CPUs"
  head_line
  row rdma_bandwidth "write / ib_write_bw" higher MB/s 1e6 rdma_all rdma_perftest
  row rdma_latency "latency / ib_send_lat" lower us 1e3
  row rdma_messages "messages / ib_write_bw -s 8" higher K/s 1e3
}
