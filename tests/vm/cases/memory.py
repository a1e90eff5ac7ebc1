"""The memory and CPU benchmarks on two NUMA nodes with a 1G page each."""

import time

from harness import SNAPSHOT, case, contains, equal, expect, gate_ready, json_of, status_json

BENCH = "/usr/libexec/railhead/railhead-bench"
FREE = "/sys/devices/system/node/node{}/hugepages/hugepages-1048576kB/free_hugepages"


def _measure(vm, options):
    line = json_of(vm, f"{BENCH} {options}", timeout=120)
    equal(f"result of {options}: {line}", line["result"], "measured")
    return line


@case(SNAPSHOT, "memory is measured from its own CPUs and across nodes, and 1G pages are given back")
def across_nodes(vm):
    free = [vm.read(FREE.format(node)) for node in (0, 1)]
    equal("a free 1G page per node", free, ["1", "1"])
    for bench in ("memory_bandwidth", "memory_latency"):
        for memory in (0, 1):
            for cpus in (0, 1):
                line = _measure(vm, f"{bench} --node {memory} --from {cpus} --page 1G"
                                    " --size 64M --budget 200")
                equal("whose memory, whose CPUs", (line["node"], line["from"]), (memory, cpus))
                equal("page", line["page"], "1G")
                expect(line["value"] > 0, f"no figure: {line}")
    equal("free 1G pages after it", [vm.read(FREE.format(node)) for node in (0, 1)], free)
    # Its CPU is the only one of its node, and is pinned to.
    equal("CPU of node 1", _measure(vm, "memory_latency --node 0 --from 1 --page 4K --size 64M"
                                        " --budget 100")["cpu"], 1)


@case(SNAPSHOT, "jitter names the worst CPU and what interrupted it")
def jitter(vm):
    line = _measure(vm, "jitter --cpus 0-1 --budget 500")
    expect(line["cpu"] in (0, 1) and 0 < line["value"] <= line["max"], f"odd figures: {line}")
    contains("top interrupt", line["top_interrupt"], " ")
    expect(line["interrupts"] >= line["top_interrupt_count"] > 0, f"no interrupts: {line}")


@case(SNAPSHOT, "the profile's own gate measures anew and passes; its time is told, and what of it is first touch")
def own_gate(vm):
    before = status_json(vm)["measurements"]
    begin = time.monotonic()
    gate_ready(vm, "--again")
    took = time.monotonic() - begin
    after = status_json(vm)["measurements"]
    expect(after and after != before, "nothing was measured anew")
    equal("states", {one["state"] for one in after}, {"same"})
    touch = max(_measure(vm, f"memory_bandwidth --node {node} --page 1G --budget 50")["touch_ms"]
                for node in (0, 1))
    print(f"# the gate took {took:.1f} s; first touch by itself takes"
          f" {touch / 1000:.1f} s, of both nodes at once")
