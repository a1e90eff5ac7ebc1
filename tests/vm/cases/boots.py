"""The first two boots: the gate of the first arms a trial and reboots in order, the trial is ready."""

import re

from harness import ORDERLY, case, contains, equal, expect, is_active, state, status_json

PFS = ("0000:41:00.0", "0000:81:00.0")
WANTED_ARGS = ("iommu=pt", "transparent_hugepage=never", "skew_tick=1",
               "hugepagesz=1G", "hugepages=0:1,1:1")


@state("boot2")
def boot2(vm):
    vm.first_boot()
    vm.sh("mkdir -p /run/payload && tar -C /run/payload -xf /dev/disk/by-id/virtio-payload")


# --- boot 1 ----------------------------------------------------------------

@case("boot2", "the first boot comes to its gate, which reboots the machine in order")
def reboots_from_gate(vm):
    console = vm.boots_on_console()[1]
    contains("console of the first boot", console, "verdict: waiting", "trial 1 of 2",
             "rebooting with other kernel arguments")
    contains("console of the first boot", console, ORDERLY)
    expect("railhead.trial=" not in console, "the first boot was a trial")


@case("boot2", "the first boot measured nothing, and let no work in")
def first_boot_only_looked(vm):
    said = vm.sh("journalctl -b -1 --no-pager -o cat -u railhead-gate.service -u gated.service")
    contains("journal of the first boot", said, "rebooting with other kernel arguments")
    expect(not re.search("[MG]B/s|Finished .*Stands for a workload", said),
           f"journal of the first boot:\n{said}")


@case("boot2", "one reboot, no more")
def one_reboot(vm):
    equal("reboots", vm.resets, 1)
    equal("kernels started", len(vm.boots_on_console()) - 1, 2)
    equal("boots of the real root", len(vm.read("/var/lib/boots").split()), 2)


# --- boot 2: what the kernel says -----------------------------------------

@case("boot2", "the args are in /proc/cmdline")
def args_arrived(vm):
    args = vm.read("/proc/cmdline").split()
    for arg in WANTED_ARGS:
        expect(arg in args, f"{arg} is not in {' '.join(args)}")
    equal("slot marks", len([a for a in args if a.startswith("railhead.slot=")]), 1)
    equal("order of the page size and the count",
          args.index("hugepages=0:1,1:1") - args.index("hugepagesz=1G"), 1)


@case("boot2", "the kernel obeyed the args")
def args_obeyed(vm):
    contains("transparent huge pages",
             vm.read("/sys/kernel/mm/transparent_hugepage/enabled"), "[never]")
    types = vm.sh("cat /sys/kernel/iommu_groups/*/type").split()
    equal("IOMMU group types", set(types), {"identity"})


@case("boot2", "each NUMA node has its 1G page")
def pages_per_node(vm):
    for node in (0, 1):
        pages = vm.read(f"/sys/devices/system/node/node{node}/hugepages/"
                        "hugepages-1048576kB/nr_hugepages")
        equal(f"1G pages on node {node}", pages, "1")


@case("boot2", "modules are live with their options, in list order")
def modules_live(vm):
    for module in ("dummy", "tun"):
        vm.sh(f"test -d /sys/module/{module}")
    equal("dummy netdevs", vm.sh("ip -o link show type dummy | wc -l"), "3")
    # sysfs numbers its entries as they are made.
    dummy, tun = vm.sh("stat -c %i /sys/module/dummy /sys/module/tun").split()
    expect(int(dummy) < int(tun), "tun was inserted before dummy")


@case("boot2", "a blacklisted module stays away")
def blacklist_holds(vm):
    expect(vm.run("test -d /sys/module/pcspkr").status != 0, "pcspkr is loaded")


@case("boot2", "VFs exist on both PFs and are bound to their driver")
def vfs_bound(vm):
    for pf in PFS:
        device = f"/sys/bus/pci/devices/{pf}"
        equal(f"VFs of {pf}", vm.read(f"{device}/sriov_numvfs"), "2")
        for vf in (0, 1):
            driver = vm.sh(f"readlink {device}/virtfn{vf}/driver")
            equal(f"driver of {pf} VF {vf}", driver.split("/")[-1], "igbvf")
        equal(f"autoprobe of {pf}", vm.read(f"{device}/sriov_drivers_autoprobe"), "1")


@case("boot2", "sysctls and sysfs values are as written in the profile")
def values_written(vm):
    equal("net.core.rmem_max", vm.read("/proc/sys/net/core/rmem_max"), "268435456")
    equal("vm.swappiness", vm.read("/proc/sys/vm/swappiness"), "10")
    equal("ksm sleep", vm.read("/sys/kernel/mm/ksm/sleep_millisecs"), "50")


# --- boot 2: the verdict ---------------------------------------------------

@case("boot2", "the verdict is ready and bound to this boot")
def verdict_ready(vm):
    status = status_json(vm)
    equal("verdict", status["verdict"], "ready")
    equal("boot id", status["boot_id"].replace("-", ""),
          vm.read("/proc/sys/kernel/random/boot_id").replace("-", ""))
    vm.sh("railhead status")
    vm.sh("test -e /run/railhead/ready")


@case("boot2", "the gate measured each NUMA node, and the numbers are kept")
def numbers_kept(vm):
    status = status_json(vm)
    measured = {entry["id"]: entry.get("observed", "") for entry in status["measurements"]}
    for node in (0, 1):
        name = f"gate/memory/node{node}"
        expect(re.match(r"\d+(\.\d+)? [MG]B/s", measured.get(name, "")),
               f"no number for {name} in {measured}")
    checked = [change["id"] for change in status["stages"]["gate"]["changes"]]
    for name in ("links", "pcie", "groups"):
        expect(any(f"gate/{name}" in one for one in checked),
               f"check {name} is not among {checked}")


@case("boot2", "the gated unit ran after the target, and that after the gate")
def gated_in_order(vm):
    expect(is_active(vm, "railhead-ready.target"), "railhead-ready.target is not active")
    expect(is_active(vm, "gated.service"), "gated.service is not active")

    def stamp(unit, name):
        return int(vm.sh(f"systemctl show --value -p {name} {unit}"))

    gate = stamp("railhead-gate.service", "ExecMainExitTimestampMonotonic")
    target = stamp("railhead-ready.target", "ActiveEnterTimestampMonotonic")
    gated = stamp("gated.service", "ExecMainStartTimestampMonotonic")
    expect(gate <= target <= gated,
           f"gate ended at {gate}, target was reached at {target}, unit began at {gated}")


@case("boot2", "the stages ran in order, the first in the initramfs")
def stages_in_order(vm):
    journal = vm.sh("journalctl -b --no-pager -o short-monotonic -u 'railhead*'")
    position = -1
    for unit in ("railhead-initrd", "railhead-early", "railhead-devices", "railhead-gate"):
        found = re.search(f"{unit}.*(Finished|Started|Deactivated)|Finished {unit}", journal)
        expect(unit in journal or found, f"no entry of {unit} in the journal:\n{journal}")
        expect(journal.find(unit) > position, f"{unit} came too early:\n{journal}")
        position = journal.find(unit)


@case("boot2", "no unit failed, and no ordering cycle was broken")
def boot_is_clean(vm):
    equal("failed units", vm.sh("systemctl --failed --plain --no-legend --no-pager"), "")
    cycles = vm.run("journalctl -b --no-pager | grep -i 'ordering cycle'").output
    equal("ordering cycles", cycles, "")
