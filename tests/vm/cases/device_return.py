"""Devices that go and come back on a node that is ready.

The times are the guest's own: the kernel's uevents as udevadm shows them, the ready file's
birth, and what railhead has written down, all by the monotonic clock.
"""

import re
import time

from harness import (DEVICES_SNAPSHOT, Failed, case, contains, equal, eventually, exits, expect,
                     expect_fault, is_active, load_igb, status_json)

from cases.sriov import APPLY, HEAD, PCI, PROFILE

PFS = ("0000:41:00.0", "0000:81:00.0")
READY = "/run/railhead/ready"
UNITS = '"railhead-device@*"'

PROFILE_TEXT = """devices:
  nics: {{pci: "8086:10c9", expect: 2}}
sriov: {{nics: {{vfs: 2, vf: {{driver: netdev, mtu: 1400, mac: derived, trust: true}}}}}}
sysctl: {{net.ipv4.conf.{netdev}.rp_filter: 2}}
"""


def _idle(vm):
    """udev has handled its events, and nobody brings a device back any more."""
    vm.sh("udevadm settle", 120)
    eventually(vm, f"! systemctl list-units --no-legend --state=activating {UNITS} | grep -q .")


def _starts(vm):
    return int(vm.sh(f"journalctl -b --no-pager -u {UNITS} 2>/dev/null"
                     " | grep -c 'Starting railhead' || :"))


def _runs_at_rest(vm, starts):
    """How many runs there are since then, once no further one comes; those that feed themselves never
    rest."""
    runs = None
    for _ in range(20):
        _idle(vm)
        before, runs = runs, _starts(vm) - starts
        if runs == before:
            return runs
        time.sleep(5)
    raise Failed(f"{runs} runs, and no end")


def _work(vm):
    """What must outlive all of this: the gated unit's process, and the target."""
    return vm.sh("systemctl show -p MainPID,InvocationID,ActiveState gated.service"
                 " railhead-ready.target railhead-gate.service railhead-devices.service")


def _settings(vm):
    """What the profile asks for and a new device does not have by itself."""
    return vm.sh(f"cd {PCI}; for pf in {' '.join(PFS)}; do echo $pf $(cat $pf/sriov_numvfs);"
                 " for vf in $pf/virtfn*; do echo $(readlink $vf | sed s,.*/,,)"
                 " $(readlink $vf/driver | sed s,.*/,,) $(cat $vf/net/*/mtu $vf/net/*/address);"
                 " done; ip -o -d link show $(ls $pf/net) | grep -o 'vf.*trust on';"
                 f" done; cat /proc/sys/net/ipv4/conf/$(ls {PFS[0]}/net)/rp_filter")


def _with_profile(vm):
    netdev = vm.sh(f"ls {PCI}/{PFS[0]}/net")
    text = HEAD + PROFILE_TEXT.format(netdev=netdev)
    vm.sh(f"cat >{PROFILE} <<'EOT'\n{text}EOT\nrailhead check {PROFILE}")
    vm.sh(APPLY, 180)
    vm.sh("railhead gate 2>&1", 180)
    _idle(vm)
    contains("settings", _settings(vm), " 1400 ", "trust on")


def _uptime_of(vm, path):
    """When a file was made, by the monotonic clock."""
    now, up, made = vm.sh(f"date +%s.%N; cut -d' ' -f1 /proc/uptime; stat -c %.9Y {path}").split()
    return float(made) - float(now) + float(up)


def _expect_withdrawn(vm, code, *words):
    equal("exit status of railhead status", vm.run("railhead status").status, 7)
    status = status_json(vm)
    equal("verdict and admission", (status["verdict"], status["admit"]), ("lapsed", False))
    for word in words:
        expect_fault(vm, code, word)


# What `railhead bake --gate` made in the image for gated.service, for another unit.
LATE = r"""
cd /etc/systemd/system
printf '[Service]\nExecStart=/bin/sleep infinity\n' >late.service
cp -r gated.service.d late.service.d
sed s/gated/late/ railhead-ready.target.d/10-gated.service.conf \
  >railhead-ready.target.d/10-late.service.conf
systemctl daemon-reload
"""


def _recheck(vm):
    """The timer's unit, now: two looks where the first finds a change."""
    vm.sh("systemctl start railhead-recheck.service", 120)


@case(DEVICES_SNAPSHOT, "a sysctl that another program sets later: lapsed, nothing is set, work stays; ready when it heals")
def later_change(vm):
    _with_profile(vm)
    work, netdev = _work(vm), vm.sh(f"ls {PCI}/{PFS[0]}/net")
    setting = f"/proc/sys/net/ipv4/conf/{netdev}/rp_filter"
    expect(is_active(vm, "railhead-recheck.timer"), "the timer does not run")
    # a VF that a container has is as it should be
    vm.sh(f"ip netns add pod && ip link set $(ls {PCI}/{PFS[0]}/virtfn1/net) netns pod")
    _recheck(vm)
    exits(vm, "railhead status", 0)
    vm.sh(f"echo 0 >{setting}")
    _recheck(vm)
    _expect_withdrawn(vm, "RH-KERNEL-SYSCTL-DIFFERS", f"conf.{netdev}.rp_filter: found '0', expected '2'",
                      "another program set it")
    expect(vm.run(f"test -e {READY}").status != 0, "the ready file is there")
    equal("what was found", vm.read(setting), "0")
    equal("work", _work(vm), work)
    vm.sh(f"echo 2 >{setting}")
    _recheck(vm)
    exits(vm, "railhead status", 0)
    expect(vm.run(f"test -e {READY}").status == 0, "there is no ready file")
    equal("work", _work(vm), work)
    vm.sh("ip netns del pod")


@case(DEVICES_SNAPSHOT, "rmmod and modprobe of a driver: ready is withdrawn, all comes back by itself")
def driver_reload(vm):
    _with_profile(vm)
    work, settings, starts = _work(vm), _settings(vm), _starts(vm)
    vm.sh("timeout 3000 udevadm monitor --kernel --subsystem-match=net"
          " >/run/uevents 2>&1 </dev/null &")
    eventually(vm, "grep -q KERNEL /run/uevents")
    vm.sh("rmmod igbvf igb", 60)
    eventually(vm, f"! test -e {READY}")
    _idle(vm)
    _expect_withdrawn(vm, "RH-PCI-UNBOUND", *PFS, "no driver")
    equal("work while the driver is away", _work(vm), work)
    vm.sh(LATE, 60)
    refused = vm.run("systemctl start late.service", 60)
    expect(refused.status != 0 and "ssert" in refused.output,
           f"a gated unit was started while a device is lost: {refused}")
    load_igb(vm)
    eventually(vm, f"test -e {READY}")
    ready = _uptime_of(vm, READY)
    _idle(vm)
    exits(vm, "railhead status", 0)
    equal("settings", _settings(vm), settings)
    equal("work", _work(vm), work)
    eventually(vm, "systemctl is-active -q late.service")
    appeared = [float(m) for m in re.findall(r"KERNEL\[([\d.]+)\] add +\S*/0000:[48]1:00.0/net/",
                                             vm.read("/run/uevents"))]
    equal("netdevs of PFs that appeared", len(appeared), 2)
    devices = status_json(vm)["devices"]
    took = {pf: devices[pf]["duration_usec"] / 1e6 for pf in PFS}
    applied = max(devices[pf]["applied_usec"] for pf in PFS) / 1e6
    print(f"# from the first netdev to ready {ready - appeared[0]:.1f} s, from the last"
          f" {ready - appeared[1]:.1f} s; applying took {took}, from the last netdev until"
          f" applied {applied - appeared[1]:.1f} s, looking and judging {ready - applied:.1f} s")
    print(f"# {_runs_at_rest(vm, starts)} runs")


@case(DEVICES_SNAPSHOT, "events of devices that have lost nothing change nothing, not for a moment")
def events_alone(vm):
    stat = ("stat -c '%n %i %Y' /run/railhead/ready /run/railhead/status.json"
            " /run/railhead/device-*; journalctl -b --no-pager MESSAGE_ID="
            "08aeee404ff1439b87d937ddb6a75466 | wc -l")
    before, starts, work = vm.sh(stat), _starts(vm), _work(vm)
    vm.sh("udevadm trigger --action=add", 60)
    eventually(vm, f"journalctl -b --no-pager -u {UNITS} | grep -c 'Starting railhead'"
                   f" | grep -qvx {starts}")
    runs = _runs_at_rest(vm, starts)
    equal("the files, and verdicts in the journal", vm.sh(stat), before)
    equal("work", _work(vm), work)
    expect(1 <= runs <= 8, f"{runs} runs for two functions")


@case(DEVICES_SNAPSHOT, "a PF that is taken off the bus stays away, and is brought back when it returns")
def off_the_bus(vm):
    work = _work(vm)
    other = vm.sh(f"cat {PCI}/{PFS[1]}/virtfn*/net/*/ifindex")
    vm.sh(f"echo 1 >{PCI}/{PFS[0]}/remove", 60)
    eventually(vm, f"! test -e {READY}")
    _idle(vm)
    _expect_withdrawn(vm, "RH-PCI-LOST", PFS[0], "gone from the bus")
    equal("work while it is away", _work(vm), work)
    equal("result of the unit",
          vm.sh(f"systemctl show --value -p ExecMainStatus railhead-device@{PFS[0]}"), "7")
    vm.sh("echo 1 >/sys/bus/pci/rescan", 60)
    eventually(vm, f"test -e {READY}")
    _idle(vm)
    exits(vm, "railhead status", 0)
    exits(vm, "railhead verify", 0, 120)
    equal("VFs of the other PF", vm.sh(f"cat {PCI}/{PFS[1]}/virtfn*/net/*/ifindex"), other)
    equal("work", _work(vm), work)


@case(DEVICES_SNAPSHOT, "VFs that somebody takes away come back, and with the VFs' driver their settings")
def vfs_taken(vm):
    vm.sh(f"echo 0 >{PCI}/{PFS[0]}/sriov_numvfs", 60)
    eventually(vm, f"! test -e {READY}")
    eventually(vm, f"test -e {READY}")
    equal("VFs", vm.read(f"{PCI}/{PFS[0]}/sriov_numvfs"), "2")
    exits(vm, "railhead verify", 0, 120)
    _idle(vm)
    vm.sh("rmmod igbvf && modprobe igbvf", 60)
    # Before that they have no driver, which is no loss: a guest may be getting them.
    eventually(vm, "grep -q \"driver was bound again to its VFs\" /run/railhead/status.json"
                   f" && test -e {READY}")
    exits(vm, "railhead verify", 0, 120)
