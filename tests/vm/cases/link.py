"""The section link on real functions: what ethtool and iproute2 of the guest see of it.

igb, of Debian's kernel: it rounds rings to a multiple of eight, has up to 4096 of them and an
MTU of at most 9216, negotiates pause with the other port unless it is told not to, and resets
its VFs with most changes.
"""

import json
import re

from harness import DEVICES_SNAPSHOT, case, contains, equal, eventually, exits, expect
from cases.sriov import APPLY, NICS, PCI, _apply, _profile

DEVICES = 'devices:\n  nics: {pci: "8086:10c9", expect: 2}\n'
SRIOV = "sriov: {{nics: {{vfs: 2, vf: {{driver: netdev, mtu: {mtu}}}}}}}\n"


def _names(vm):
    return [vm.sh(f"ls {PCI}/{pf}/net") for pf in NICS]


def _ethtool(vm, option, name):
    """What `ethtool OPTION` prints, as {key: last value}: the present ones follow the maxima."""
    text = vm.sh(f"ethtool {option} {name}")
    return {key.strip(): value.strip()
            for key, value in re.findall(r"^(.+?):[ \t]*(.*)$", text, re.MULTILINE)}


def _seen(vm, name, option, wanted):
    got = _ethtool(vm, option, name)
    equal(f"ethtool {option} {name}", {key: got.get(key) for key in wanted}, wanted)


def _mtus(vm, pf):
    """Those of a PF and of its VFs."""
    return [int(text) for text in
            vm.sh(f"cd {PCI}/{pf}; cat net/*/mtu virtfn*/net/*/mtu").split()]


def _carrier_changes(vm):
    return [vm.sh(f"cat /sys/class/net/{name}/carrier_changes") for name in _names(vm)]


def _again(vm):
    """Another apply is told of no difference, and the kernel tells of no change."""
    vm.sh("stdbuf -oL ethtool --monitor >/run/monitor 2>&1 & echo $! >/run/monitor.pid;"
          " ip monitor link >/run/links 2>&1 & echo $! >/run/links.pid")
    # A change that is seen says that both listen by now.
    name = _names(vm)[0]
    eventually(vm, f"ip link set {name} txqueuelen 999; ethtool -K {name} gso off;"
                   f" ethtool -K {name} gso on; test -s /run/monitor && test -s /run/links")
    vm.sh(f"ip link set {name} txqueuelen 2000")
    # Links that were made anew are up again, and those of the VFs have heard of it.
    eventually(vm, "was=${size:-none}; sleep 10; size=$(cat /run/monitor /run/links | wc -c);"
                   f" [ $was = $size ] && ! grep -q 0 {PCI}/{NICS[0]}/net/*/carrier"
                   f" {PCI}/{NICS[1]}/net/*/carrier")
    vm.sh(": >/run/monitor; : >/run/links")
    before = _carrier_changes(vm)
    exits(vm, APPLY, 0, 120)
    # A later change, of another device: what came before it has been written by then.
    vm.sh("ethtool -K lo gso off; ethtool -K lo gso on")
    eventually(vm, "grep -qaw lo /run/monitor && grep -qaw lo /run/links")
    said = vm.sh("cat /run/monitor /run/links; kill $(cat /run/monitor.pid) $(cat /run/links.pid)")
    others = [other for other in vm.sh("ls /sys/class/net").split()
              if other != "lo" and re.search(rf"\b{other}\b", said)]
    equal(f"devices of which the kernel told during a second apply:\n{said}", others, [])
    equal("carrier changes of a second apply", _carrier_changes(vm), before)


EVERYTHING = """link:
  nics:
    up: true
    mtu: 4000
    channels: {combined: 1}
    rings: {rx: 512, tx: 1024}
    coalesce: {rx_usecs: 50us}
    pause: {rx: false, tx: false}
    features: {generic-receive-offload: false, tcp-segmentation-offload: false}
    private_flags: {legacy-rx: true}
    tx_queue_len: 2000
    gro_flush_timeout: 20us
    napi_defer_hard_irqs: 2
    threaded_napi: true
gate:
  checks:
    ports: {run: carrier, on: nics, speed: 1Gb/s, timeout: 20s}
"""


@case(DEVICES_SNAPSHOT, "link: every key of an igb port and its VFs' MTU are what ethtool sees, once and for all")
def everything(vm):
    _profile(vm, DEVICES + SRIOV.format(mtu=4000) + EVERYTHING)
    _apply(vm)
    for pf, name in zip(NICS, _names(vm)):
        equal(f"MTUs of {pf}", _mtus(vm, pf), [4000, 4000, 4000])
        _seen(vm, name, "-g", {"RX": "512", "TX": "1024"})
        _seen(vm, name, "-l", {"Combined": "1"})
        _seen(vm, name, "-c", {"rx-usecs": "50"})
        _seen(vm, name, "-a", {"RX": "off", "TX": "off"})
        _seen(vm, name, "-k", {"generic-receive-offload": "off",
                               "tcp-segmentation-offload": "off"})
        _seen(vm, name, "--show-priv-flags", {"legacy-rx": "on"})
        [link] = json.loads(vm.sh(f"ip -j link show {name}"))
        equal(f"queue length of {name}", link["txqlen"], 2000)
        expect("UP" in link["flags"], f"{name} is not up: {link['flags']}")
        files = " ".join(f"/sys/class/net/{name}/{file}" for file in
                         ("gro_flush_timeout", "napi_defer_hard_irqs", "threaded"))
        equal(f"{files}", vm.sh(f"cat {files}").split(), ["20000", "2", "1"])
    _again(vm)
    said = vm.run("railhead gate 2>&1; railhead status", 120).output
    expect("gate/ports" not in said, f"a link of 1 Gb/s is not taken for one:\n{said}")
    # And down again, together; of one alone, for the time it takes.
    _profile(vm, DEVICES.replace("nics: {", f'nics: {{address: "{NICS[0]}", ').replace("2}", "1}")
             + SRIOV.format(mtu=1400) + "link: {nics: {mtu: 1500}}\n")
    _apply(vm)
    equal(f"MTUs of {NICS[0]}", _mtus(vm, NICS[0]), [1500, 1400, 1400])


@case(DEVICES_SNAPSHOT, "link: what igb refuses, rounds or has not is told in the kernel's words and with the remedy")
def refusals(vm):
    before = [_mtus(vm, pf) for pf in NICS]
    _profile(vm, DEVICES + "link: {nics: {mtu: 9999, rings: {rx: 5000}, coalesce: {rx_usecs: 5us},"
             " features: {tx-nocache-copy: true, no-such-feature: true},"
             " private_flags: {no-such-flag: true}}}\n")
    said = exits(vm, APPLY, 6, 120)
    contains("railhead apply", said, "mtu greater than device maximum", "its maximum is 9216",
             "requested ring size exceeds maximum", "its maximum is 4096", NICS[0], NICS[1],
             "driver igb rejects the value: Invalid argument",
             "this kernel has no feature no-such-feature",
             "no private flag no-such-flag (it has: legacy-rx")
    equal("MTUs of what was refused", [_mtus(vm, pf) for pf in NICS], before)
    _profile(vm, DEVICES + "link: {nics: {rings: {rx: 500}}}\n")
    contains("railhead apply", exits(vm, APPLY, 6, 120), "rounded 500 to 504; set rx: 504")
    _profile(vm, DEVICES + "link: {nics: {rings: {rx: 504}, optional: [coalesce],"
             " coalesce: {adaptive_rx: true, rx_usecs: 60us}}}\n")
    contains("railhead apply", exits(vm, APPLY, 0, 120), "coalesce: unsupported",
             "offers no coalesce.adaptive_rx")
    for name in _names(vm):
        _seen(vm, name, "-g", {"RX": "504"})
        _seen(vm, name, "-c", {"rx-usecs": "60"})


def _queues(vm, name, direction, file):
    """The CPUs of each queue, in order; masks as numbers."""
    text = vm.sh(f"cd /sys/class/net/{name}/queues && for n in $(ls -d {direction}-* | sort -V);"
                 f" do cat $n/{file}; done")
    return [int(mask.replace(",", ""), 16) for mask in text.split()]


@case(DEVICES_SNAPSHOT, "packets that are received go to the CPUs of the NIC's node, and those CPUs send by queues of their own")
def queues(vm):
    _profile(vm, DEVICES + "link: {nics: {rps: local_node, rps_flows: 256, xps: local_node}}\n")
    vm.sh(APPLY, 60)
    for pf, name in zip(NICS, _names(vm)):
        node = vm.sh(f"cat {PCI}/{pf}/numa_node").strip()
        cpus = int(vm.sh(f"cat /sys/devices/system/node/node{node}/cpumap").strip().replace(",", ""), 16)
        rps, xps = _queues(vm, name, "rx", "rps_cpus"), _queues(vm, name, "tx", "xps_cpus")
        equal(f"rps_cpus of {name}", set(rps), {cpus})
        sent = 0
        for mask in xps:
            expect(mask and mask & ~cpus == 0, f"xps_cpus of {name}: {xps}")
            sent |= mask
        equal(f"CPUs of all transmit queues of {name}", sent, cpus)
        equal(f"rps_flow_cnt of {name}", set(_queues(vm, name, "rx", "rps_flow_cnt")), {0x256})
    vm.sh(f"strace -f -e trace=openat,openat2 -o /run/trace {APPLY}", 60)
    equal("queues that a second run opens for writing",
          vm.run("grep -c '/queues/.*O_\\(WRONLY\\|RDWR\\)' /run/trace").output.strip(), "0")
    # Channels make all queues anew; the values come back with the next run.
    vm.sh(f"ethtool -L {_names(vm)[0]} combined 1 && ethtool -L {_names(vm)[0]} combined 2")
    vm.sh(APPLY, 60)
    vm.sh("railhead verify --stage devices 2>&1", 60)
