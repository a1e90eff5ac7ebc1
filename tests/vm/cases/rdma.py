"""RDMA benchmarks on soft-RoCE: the kernel's own stack under rdma-core's library, on igb.

What an igb sends to its own VF stays in the NIC; two igb of the guest have no wire between them.
"""

import json
import statistics
import time

from harness import (DEVICES_SNAPSHOT, Failed, case, contains, equal, eventually, exits, expect,
                     expect_fault, leave_devices, status_json)
from vm import HANG

from cases.sriov import APPLY, HEAD, NICS, PCI, PROFILE

BENCH = "/usr/libexec/railhead/railhead-bench"
MIB = 1 << 20  # perftest's MB

# Its server listens on port 18515. The client's output ends with the line of figures.
PEER = """%(tool)s >/run/server 2>&1 &
for i in $(seq 1200); do grep -q ':4853 .* 0A ' /proc/net/tcp && break; sleep 0.1; done
[ $i -lt 1200 ] || { cat /run/server; exit 1; }
start=${EPOCHREALTIME/.}
%(tool)s 127.0.0.1 >/run/client 2>&1 || { cat /run/server /run/client; exit 1; }
end=${EPOCHREALTIME/.}
wait
grep -A 1 '^ #bytes' /run/client | tail -n 1
echo $((end - start))"""


def _netdev(vm, function):
    return vm.sh(f"ls {PCI}/{function}/net")


def _soft_roce(vm, *functions, first=0):
    """rxe0, rxe1 and so on, on the functions' netdevs, with their ports up."""
    vm.sh("modprobe rdma_rxe")
    for n, function in enumerate(functions, first):
        name = _netdev(vm, function)
        vm.sh(f"ip link set {name} up && rdma link add rxe{n} type rxe netdev {name}", 60)
    for n in range(first, first + len(functions)):
        _wait_active(vm, f"rxe{n}")
        # The address behind the GID answers for it once the kernel has found no other such.
        eventually(vm, "! ip -6 addr show tentative dev"
                       f" $(cat /sys/class/infiniband/rxe{n}/parent) | grep -q inet6")


def _fresh_vf(vm, pf):
    """The address of a VF that was made while its PF was up: another finds no link."""
    leave_devices(vm)
    vm.sh(f"cd {PCI}/{pf} && echo 0 >sriov_numvfs && echo 1 >sriov_numvfs", 90)
    eventually(vm, f"ls {PCI}/{pf}/virtfn0/net")
    vm.sh("udevadm settle", 120)
    return vm.sh(f"basename $(readlink {PCI}/{pf}/virtfn0)")


def _wait_active(vm, device):
    eventually(vm, f"grep -q ACTIVE /sys/class/infiniband/{device}/ports/1/state")


def _bench(vm, words, result="measured"):
    line = json.loads(exits(vm, f"{BENCH} {words} --budget 200 2>/run/stderr", 0))
    equal(f"result of {words} ({line.get('reason')})", line["result"], result)
    return line


@case(DEVICES_SNAPSHOT, "rdma_loopback on soft-RoCE: figures, its GID of RoCE v2; a port that is down is not yet")
def loopback(vm):
    _soft_roce(vm, NICS[0])
    line = _bench(vm, "rdma_loopback --device rxe0")
    for key, least in (("value", 1e6), ("messages", 1e3), ("latency", 1e3), ("latency_p99", 1e3)):
        expect(line[key] >= least, f"{key}: {line}")
    shown = {key: line[key] for key in ("gid_index", "gid_type", "gid_kind", "mtu", "device_node")}
    equal("of the line", shown, {"gid_index": 0, "gid_type": "RoCE v2", "gid_kind": "link-local",
                                 "mtu": 1024, "device_node": 0})
    # A GID of IPv4 is preferred to it, as perftest does.
    vm.sh(f"ip addr add 192.0.2.1/24 dev {_netdev(vm, NICS[0])}")
    line = _bench(vm, "rdma_loopback --device rxe0 --traffic-class 104")
    equal("of the line", (line["gid_kind"], line["traffic_class"]), ("ipv4", 104))
    equal("index", line["gid_index"],
          int(vm.sh("cd /sys/class/infiniband/rxe0/ports/1/gids; grep -l ffff:c000:0201 *")))
    line = _bench(vm, "rdma_loopback --device rxe0 --gid-index 9", "cannot measure")
    contains("reason", line["reason"], "GID 9 of port 1 of rxe0 is not of type RoCE v2")
    vm.sh(f"ip link set {_netdev(vm, NICS[0])} down")
    line = _bench(vm, "rdma_loopback --device rxe0", "not yet")
    contains("reason", line["reason"], "port 1 of rxe0 is DOWN", "carrier")
    line = _bench(vm, "rdma_loopback --device mlx5_0", "cannot measure")
    contains("reason", line["reason"], "there is no RDMA device mlx5_0; found: rxe0")


def perftest(vm, command, column):
    """The number in a column of perftest's line, and the client's seconds; some runs print none."""
    for _ in range(5):
        lines = vm.sh(PEER % {"tool": command}, 300).splitlines()
        figure = float(lines[-2].split()[column])
        if 0 < figure < float("inf"):
            return figure, int(lines[-1]) / 1e6
    raise Failed(f"{command} printed no number in five runs:\n" + "\n".join(lines))


@case(DEVICES_SNAPSHOT, "rdma_loopback on soft-RoCE: its rate is that of perftest, within 4 times")
def beside_perftest(vm):
    _soft_roce(vm, NICS[0])
    vm.sh("ip link set lo up")  # the two ends of perftest meet there
    for tool in "ib_write_bw", "ib_read_bw":
        ratios = []
        for _ in range(3):  # in turn, since the guest's host is busy with other things as well
            ours = _bench(vm, "rdma_loopback --device rxe0")["value"]
            peer, seconds = perftest(vm, f"{tool} -d rxe0 -F -n 1000", 3)
            ratios.append(ours / (peer * MIB))
            print(f"# rdma_loopback {ours / 1e6:.1f} MB/s, {tool} {peer * MIB / 1e6:.1f} MB/s in"
                  f" {seconds:.1f} s: ratio {ratios[-1]:.2f}", flush=True)
        middle = statistics.median(ratios)
        expect(1 / 4 <= middle <= 4, f"rdma_loopback is {middle:.2f} of {tool}")


@case(DEVICES_SNAPSHOT, "rdma_loopback: too little memlock, and a device without its library, are named")
def lacks(vm):
    _soft_roce(vm, NICS[0])
    words = "--device rxe0 --budget 100"
    said = vm.sh(f"prlimit --memlock=65536 setpriv --bounding-set=-ipc_lock"
                 f" --inh-caps=-ipc_lock {BENCH} rdma_loopback {words} 2>/run/stderr")
    contains("without memlock", said, "cannot measure", "rxe0", "LimitMEMLOCK=infinity")
    vm.sh("mv /etc/libibverbs.d /etc/libibverbs.d.not")
    line = _bench(vm, "rdma_loopback --device rxe0", "cannot measure")
    contains("reason", line["reason"], "rxe0 is unusable", "ibverbs-providers")


@case(DEVICES_SNAPSHOT, "rdma_pairs between a PF and its VF on soft-RoCE; no way between two is named")
def pairs(vm):
    _soft_roce(vm, NICS[0])
    _soft_roce(vm, _fresh_vf(vm, NICS[0]), NICS[1], first=1)
    line = _bench(vm, "rdma_pairs --device rxe0 --peer rxe1")
    equal("ends", (line["device"], line["peer"], line["peer_gid_type"]),
          ("rxe0", "rxe1", "RoCE v2"))
    sent = vm.sh("cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts")
    expect(int(sent) > 100, f"packets that rxe0 has sent: {sent}")
    line = _bench(vm, "rdma_pairs --device rxe0 --peer rxe2", "cannot measure")
    contains("reason", line["reason"], "rxe0", "rxe2", "check the path between")


GATE = HEAD + """devices:
  nics: {pci: "8086:10c9", expect: 2}
qos: {nics: {roce_tos: 104}}
gate:
  budget: 120s
  checks:
    loop: {run: rdma_loopback, on: nics, min: %s, min_messages: 1/s, max: 900ms, timeout: 50s}
"""


def _gate(vm, least, status):
    """The states and reasons of the NICs, in their order, and the verdict; undisturbed by the host's load."""
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{GATE % least}PROFILE\nrailhead check {PROFILE}")
    end = time.monotonic() + HANG
    while True:
        result = vm.run("railhead gate --again 2>&1", 180)
        said = status_json(vm)
        if time.monotonic() >= end or not any(m["state"] == "invalid" for m in said["measurements"]):
            break
    expect(result.status == status, f"exit status {result.status}, wanted {status}:\n{result.output}")
    equal("measured", [m["id"] for m in said["measurements"]], [f"gate/loop/{pf}" for pf in NICS])
    return said["measurements"], said["verdict"]


@case(DEVICES_SNAPSHOT, "the gate measures soft-RoCE of a set: ready, blocked with causes, a port that is not up yet")
def gate(vm):
    vm.sh("modprobe rdma_cm; mountpoint -q /sys/kernel/config"
          " || mount -t configfs none /sys/kernel/config")
    _soft_roce(vm, *NICS)
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{GATE % '1MB/s'}PROFILE\n{APPLY}", 180)
    measured, verdict = _gate(vm, "1MB/s", 0)
    equal("verdict", verdict, "ready")
    for one in measured:
        equal("state", one["state"], "same")
        equal("traffic class", one["detail"]["traffic_class"], 104)
        equal("readings", sorted(one["readings"]), ["max", "min", "min_messages"])
    measured, verdict = _gate(vm, "90GB/s", 7)
    equal("verdict", verdict, "blocked")
    expect_fault(vm, "RH-RDMA-LOOPBACK", NICS[0])
    for pf, one in zip(NICS, measured):
        equal("state", one["state"], "slow")
        contains("reason", f"{one['reason']}; {one['causes']}", f"rdma_loopback of {pf}: measured",
                 "required at least 90GB/s", f"PCIe width of {pf}", f"MaxReadRequest of {pf}",
                 f"IOMMU of {pf}", f"{pf} is on NUMA node")
    vm.sh(f"ip link set {_netdev(vm, NICS[1])} down")
    measured, _ = _gate(vm, "1MB/s", 7)
    equal("states", [one["state"] for one in measured], ["same", "not yet"])
    contains("reason", measured[1]["reason"], "port 1 of rxe1 is DOWN")
    vm.sh("rdma link del rxe0")
    measured, verdict = _gate(vm, "1MB/s", 7)
    equal("verdict", verdict, "blocked")
    equal("state", measured[0]["state"], "cannot measure")
    contains("reason", measured[0]["reason"], f"{NICS[0]} has no RDMA device with the driver igb")


# A site's program as the load, which takes the link down; its last word is no figure to judge.
LINK_FALLS = HEAD + """devices:
  nics: {pci: "8086:10c9", expect: 2}
gate:
  budget: 60s
  checks:
    ports: {run: port_errors, on: nics}
    load:
      run: command
      command: [/bin/sh, -c, "%s echo '{\\"result\\": \\"measured\\", \\"value\\": 1}'"]
      user: root
      capabilities: [CAP_NET_ADMIN]
      network: true
"""


@case(DEVICES_SNAPSHOT, "a port whose link falls under load blocks, by the kernel's own counter; one that fell before does not")
def link_falls(vm):
    _soft_roce(vm, *NICS)
    name = _netdev(vm, NICS[1])
    downed = "/sys/class/infiniband/rxe1/ports/1/hw_counters/link_downed"
    vm.sh(f"ip link set {name} down; ip link set {name} up")
    _wait_active(vm, "rxe1")
    before = int(vm.read(downed))
    expect(before > 0, f"rxe1 has lost its link, and its link_downed is {before}")
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{LINK_FALLS % ''}PROFILE\nrailhead check {PROFILE}"
          f" && {APPLY}", 180)
    exits(vm, "railhead gate 2>&1", 0, 120)
    fall = f"ip link set {name} down; ip link set {name} up;"
    vm.sh(f"cat >{PROFILE} <<'PROFILE'\n{LINK_FALLS % fall}PROFILE\nrailhead check {PROFILE}")
    exits(vm, "railhead gate --again 2>&1", 7, 120)
    now = int(vm.read(downed))
    expect(now > before, f"link_downed stays at {now}")
    expect_fault(vm, "RH-RDMA-ERRORS",
                 f"rxe1 port 1: link_downed rose by {now - before} under load, to {now}")
    contains("the reason", status_json(vm)["reasons"][0], f"gate/ports/{NICS[1]}: found",
             "the load was that of the benchmarks (load)")
