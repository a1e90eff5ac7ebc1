"""Hardware that does not do what it is asked."""

import time

from harness import (DEVICES_SNAPSHOT, case, contains, equal, expect, expect_fault, is_active,
                     leave_devices, status_json)

PAGES = "/sys/devices/system/node/node{}/hugepages/hugepages-1048576kB/nr_hugepages"
NODE1_PAGES = PAGES.format(1)
STAGE_DEADLINE = 150  # seconds; the unit's own limit is shorter than TCG is slow


@case(DEVICES_SNAPSHOT, "1G pages missing on one node are a failure that names the node")
def shortage_on_a_node(vm):
    vm.sh(f"echo 0 >{NODE1_PAGES}")
    equal("1G pages on node 1", vm.read(NODE1_PAGES), "0")
    result = vm.run("railhead verify", 120)
    equal("exit status of verify", result.status, 5)
    contains("railhead verify", result.output, "node1")


@case(DEVICES_SNAPSHOT, "a page that landed on the other node is a failure, not a pass")
def spill(vm):
    # Whether a running kernel finds a free gigabyte in one piece on a node is luck, so
    # either node may be the one that gets the other's page.
    vm.sh("sync; echo 3 >/proc/sys/vm/drop_caches; echo 1 >/proc/sys/vm/compact_memory")
    for short, other in ((1, 0), (0, 1)):
        vm.sh(f"echo 0 >{PAGES.format(short)}; echo 2 >{PAGES.format(other)}")
        if vm.read(PAGES.format(other)) == "2":
            break
        vm.sh(f"echo 1 >{PAGES.format(short)}; echo 1 >{PAGES.format(other)}")
    equal("1G pages in all", vm.read("/proc/sys/vm/nr_hugepages"), "2")
    result = vm.run("railhead verify", 120)
    equal("exit status of verify", result.status, 5)
    contains("railhead verify", result.output, f"node{short}=0", f"node{other}=2")
    vm.run("railhead gate --again", 180)
    expect_fault(vm, "RH-MEMORY-PAGES-SHORT", f"node{short}")


def _freeze(vm, function, how):
    leave_devices(vm)
    vm.sh("for pf in 0000:41:00.0 0000:81:00.0; do"
          " echo 0 >/sys/bus/pci/devices/$pf/sriov_numvfs; done", 120)
    vm.sh(f"insmod /run/payload/frozen.ko function={function} how={how}")


def _apply_devices(vm):
    """The devices stage; it must end by itself, and say that something failed."""
    begin = time.monotonic()
    result = vm.run("railhead apply --stage devices 2>&1", STAGE_DEADLINE)
    took = time.monotonic() - begin
    expect(result.status not in (124, 137),
           f"the stage did not end within {took:.0f} s:\n{result.output}")
    equal("exit status of apply", result.status, 6)
    return result.output


def _links(vm, function):
    return vm.sh(f"find /sys/bus/pci/devices/{function}/ -name 'virtfn*'").split()


@case(DEVICES_SNAPSHOT, "a PF whose lock is held is named in time, and the other PF is done")
def frozen_by_lock(vm):
    _freeze(vm, "0000:41:00.0", "lock")
    contains("railhead apply", _apply_devices(vm), "0000:41:00.0")
    expect("RH-KERNEL-STUCK" in {fault["code"] for fault in status_json(vm)["faults"]},
           status_json(vm)["faults"])
    equal("VFs of the other PF", len(_links(vm, "0000:81:00.0")), 2)
    equal("VFs of the frozen PF", len(_links(vm, "0000:41:00.0")), 0)


@case(DEVICES_SNAPSHOT, "a driver that never returns is named in time")
def frozen_in_driver(vm):
    # This kernel holds one lock around each write to sriov_numvfs, so the other
    # PF may have to wait behind this one; then it must be named as waiting.
    _freeze(vm, "0000:41:00.0", "configure")
    said = _apply_devices(vm)
    contains("railhead apply", said, "0000:41:00.0")
    expect(len(_links(vm, "0000:81:00.0")) == 2 or "0000:81:00.0" in said,
           f"the other PF is neither done nor named:\n{said}")


def _restart(vm, unit):
    """Run a unit of the boot once more; returns its result and the seconds.

    Ours refuse to be stopped by hand, so that nobody closes the gate under
    running work: that one line is left out here.
    """
    vm.sh(f"sed /RefuseManualStop/d /lib/systemd/system/{unit} >/run/systemd/system/{unit}"
          " && systemctl daemon-reload")
    begin = time.monotonic()
    started = vm.run(f"systemctl restart {unit}", 2 * STAGE_DEADLINE)
    expect(started.status not in (124, 137), f"{unit} does not end")
    result = vm.sh(f"systemctl show --value -p Result {unit}")
    return result, time.monotonic() - begin


@case(DEVICES_SNAPSHOT, "the unit ends in time with a frozen PF, and the verdict names it")
def frozen_unit(vm):
    _freeze(vm, "0000:41:00.0", "lock")
    result, seconds = _restart(vm, "railhead-devices.service")
    equal(f"result of the unit after {seconds:.0f} s", result, "exit-code")
    equal("VFs of the other PF", len(_links(vm, "0000:81:00.0")), 2)
    expect_fault(vm, "RH-KERNEL-STUCK", "0000:41:00.0")
    _restart(vm, "railhead-gate.service")
    status = vm.run("railhead status")
    equal("exit status of status", status.status, 7)
    contains("railhead status", status.output, "blocked", "0000:41:00.0")
    expect(not is_active(vm, "railhead-ready.target"), "the target is active")


@case(DEVICES_SNAPSHOT, "where the initramfs has no railhead, early does its work and says so")
def early_stands_in(vm):
    vm.sh("rm /run/railhead/status.json /run/modprobe.d/zz-railhead.conf")
    result, _ = _restart(vm, "railhead-early.service")
    equal("result of the unit", result, "success")
    vm.sh("test -f /run/modprobe.d/zz-railhead.conf")
    contains("journal", vm.sh("journalctl -b --no-pager -u railhead-early.service"),
             "the initrd stage did not run")
