"""RDMA figures of ours beside those of perftest, and a throttled link that is to be found: on
soft-RoCE, in a guest of two CPUs on one NUMA node, with two NICs on one wire.

  bench_rdma.py compare ROUNDS      prints, for each round and figure:
                                    NAME OURS PERFTEST OUR-SECONDS PERFTEST-SECONDS
  bench_rdma.py slowdown RUNS       as many gates' worth of rdma_pairs with the wire at 80 % of what
                                    it was calibrated to, and as many without: how many are found
  bench_rdma.py compare 3 slowdown 100      both, in one guest

compare is for tests/bench/gate, which judges. Seconds of perftest are those of its client alone.
"""

import json
import os
import statistics
import sys

sys.dont_write_bytecode = True

import prepare                                # noqa: E402
from harness import leave_devices             # noqa: E402
from vm import Guest                          # noqa: E402

from cases.rdma import MIB, perftest          # noqa: E402

BENCH = "/usr/libexec/railhead/railhead-bench"
THRESHOLD, THROTTLE = 0.9, 0.8  # of what was calibrated
CALIBRATIONS = 9
LONG_MS = 4000  # of windows in the look that counts (src/gate/measure.c)

# perftest as people run it: its own counts of iterations.
PEERS = {"bandwidth": "ib_write_bw -d rxe0 -F",
         "latency": "ib_send_lat -d rxe0 -F",
         "messages": "ib_write_bw -d rxe0 -F -s 8"}
FIGURES = {"bandwidth": "value", "latency": "latency", "messages": "messages"}

SETUP = """modprobe rdma_rxe
ip link set lo up
n=0
for pf in /sys/bus/pci/drivers/igb/0000:*; do
  name=$(ls $pf/net)
  ip link set $name up
  rdma link add rxe$n type rxe netdev $name
  n=$((n + 1))
done
for i in $(seq 1500); do
  ! grep -L ACTIVE /sys/class/infiniband/*/ports/1/state | grep . || { sleep 0.2; continue; }
  ! ip -6 addr show tentative | grep . || { sleep 0.2; continue; }
  exit 0
done
exit 1"""

OURS = """start=${EPOCHREALTIME/.}
%s
echo $((${EPOCHREALTIME/.} - start))"""


def hardware():
    """Two NICs on one wire. Of AMD's name, for which the kernel needs no page table isolation."""
    args = ["-machine", "q35", "-cpu", "qemu64", "-smp", "2", "-m", "2G"]
    for n in (0, 1):
        args += ["-device", f"pcie-root-port,id=rp{n},chassis={n + 1},slot={n + 1}",
                 "-netdev", f"hubport,id=n{n},hubid=0",
                 "-device", f"igb,bus=rp{n},netdev=n{n},mac=52:54:00:00:00:{16 + n:02x},romfile="]
    return args


def boot(guest):
    guest.first_boot()
    leave_devices(guest)
    guest.sh(SETUP, 400)


def ours(guest, words):
    """Our line and its seconds."""
    lines = guest.sh(OURS % f"{BENCH} {words}", 60).splitlines()
    line = json.loads(lines[0])
    if line["result"] != "measured":
        raise SystemExit(f"{words}: {line['reason']}")
    return line, int(lines[1]) / 1e6


def peer(guest, name):
    """perftest's figure, in our units, and its seconds."""
    column, unit = {"bandwidth": (3, MIB), "latency": (4, 1000), "messages": (4, 1e6)}[name]
    figure, seconds = perftest(guest, PEERS[name], column)
    return figure * unit, seconds


def compare(guest, rounds):
    """A run of ours before each of perftest's; each of ours gives all figures."""
    for _ in range(rounds):
        for name in PEERS:
            line, took = ours(guest, "rdma_loopback --device rxe0")
            theirs, their_time = peer(guest, name)
            print(f"{name} {line[FIGURES[name]]:.0f} {theirs:.0f}"
                  f" {took:.3f} {their_time:.3f}", flush=True)
    return 0


# --- a slow wire ---------------------------------------------------------------------------

PAIR = "rdma_pairs --device rxe0 --peer rxe1"
DEV = "$(cat /sys/class/infiniband/rxe0/parent)"


def long_look(guest):
    return ours(guest, f"{PAIR} --budget {LONG_MS}")[0]["value"]


def look(guest, limit):
    """As the gate does: what is slow is measured once more, and longer, before it counts."""
    value = ours(guest, PAIR)[0]["value"]
    return value if value >= limit else long_look(guest)


def throttle(guest, rate):
    """What leaves the first NIC, headers of 70 bytes for each 1024 included."""
    bits = int(rate * 8 * (1024 + 70) / 1024)
    guest.sh(f"tc qdisc replace dev {DEV} root tbf rate {bits}bit burst 16k limit 4m")


def slowdown(guest, runs):
    """Each run with the wire throttled, then one without, so that both see the same host."""
    values = [long_look(guest) for _ in range(CALIBRATIONS)]
    calibrated = statistics.median(values)
    limit = THRESHOLD * calibrated
    print(f"# calibrated: {calibrated / 1e6:.1f} MB/s ({min(values) / calibrated:.3f} to"
          f" {max(values) / calibrated:.3f} of it); wanted: {THRESHOLD:.0%} of it", flush=True)
    found = blocked = 0
    for n in range(runs):
        throttle(guest, THROTTLE * calibrated)
        slow = look(guest, limit)
        guest.sh(f"tc qdisc del dev {DEV} root")
        free = look(guest, limit)
        found += slow < limit
        blocked += free < limit
        print(f"{n + 1} throttled {slow / calibrated:.3f} free {free / calibrated:.3f}", flush=True)
    print(f"# {found} of {runs} throttled runs found; {blocked} of {runs} free ones blocked")
    return 0 if found >= 0.99 * runs else 1


def main():
    parts = {"compare": compare, "slowdown": slowdown}
    wanted = [(parts[what], int(count)) for what, count in zip(sys.argv[1::2], sys.argv[2::2])]
    prepare.claim()
    qemu = prepare.qemu()
    disk = prepare.image(prepare.packages())
    directory = os.path.join(prepare.logs(), "bench-rdma")
    with Guest(qemu, prepare.accelerator(qemu, disk), disk, directory, hardware=hardware()) as guest:
        boot(guest)
        return max(run(guest, count) for run, count in wanted)


if __name__ == "__main__":
    sys.exit(main())
