"""What railhead adds to a boot that has all it wants: pairs of boots of one guest, with railhead and
without. The emulator's CPU time holds on a busy machine too; the other times are the guest's own. For
tests/bench/boot, which says more.

  bench_boot.py PAIRS
"""

import json
import math
import os
import statistics
import sys

sys.dont_write_bytecode = True

import prepare                                # noqa: E402
from vm import ORDERLY_REBOOT, Guest, GuestError, full_hardware  # noqa: E402

# No VFs: their drivers' work is the machine's, and tests/bench/sriov has it. What was measured in an
# earlier boot counts, as it would on a node that was rebooted.
PROFILE = """schema: 1
name: vm-bench
version: 3.0.0
match:
  dmi: {sys_vendor: QEMU, product_name: "Standard PC*"}
devices:
  rails: {pci: "8086:10c9", expect: 2, link: ethernet}
expect: {numa_nodes: 2, memory: ">=10G"}
kernel_args:
  iommu: passthrough
  set: [transparent_hugepage=never, skew_tick=1]
hugepages:
  - {size: 1G, per_node: 1, at: boot, default: true}
modules:
  load: [dummy, tun]
  blacklist: [pcspkr]
sysctl: {net.core.rmem_max: 268435456, vm.swappiness: 10}
sysfs: {/sys/kernel/mm/ksm/sleep_millisecs: 50}
gate:
  budget: 120s
  reuse: 24h
  checks:
    memory: {run: memory_bandwidth, per: node, min: 1MB/s, timeout: 50s}
    groups: {run: iommu_groups, on: rails, isolated: true}
    pcie: {run: pcie_link, on: rails, width: 1}
"""

UNITS = ("railhead-early.service", "railhead-devices.service", "railhead-gate.service")
OTHERS = ("railhead-initrd.service", "railhead-trial.timer", "railhead-trial-stop.service",
          "railhead-recheck.timer", "railhead-retry.timer",
          "railhead-ready.target")
# GRUB sets the variable from grubenv, in the initramfs too: a boot without any unit of railhead.
PREPARE = """sed -i 's/^GRUB_CMDLINE_LINUX="/&\\\\$bench_masks /' /etc/default/grub && update-grub 2>&1
mkdir -p /etc/systemd/system-generators /etc/udev/rules.d"""
WITHOUT = "grub-editenv - set bench_masks='%s'\n" % " ".join(
    f"{stage}systemd.mask={unit}" for unit in UNITS + OTHERS for stage in ("", "rd.")) + """
ln -sf /dev/null /etc/systemd/system-generators/railhead-generator
ln -sf /dev/null /etc/udev/rules.d/90-railhead.rules"""
WITH = """grub-editenv - unset bench_masks
rm -f /etc/systemd/system-generators/railhead-generator /etc/udev/rules.d/90-railhead.rules"""
# Of groups that both boots have: what railhead's units make others do. All of the boot, ended units too.
GROUPS = ("init.scope", "system.slice", "system.slice/systemd-udevd.service",
          "system.slice/systemd-journald.service", "system.slice/dbus.service")
USAGE = "sed -n 's/^usage_usec //p' /sys/fs/cgroup/%s/cpu.stat"
SHOW = "systemctl show -p %s --value "
REACHED = SHOW % "ActiveEnterTimestampMonotonic" + "multi-user.target"
# Of a unit that the initramfs has: systemd forgets its CPU time when it enters the real root.
LASTED = """journalctl -b -o short-monotonic -u railhead-initrd.service --no-pager | awk -F '[][]' '
  /Starting railhead-initrd/ { began = $2 }
  /Finished railhead-initrd/ { print $2 - began }'"""
# A boot in which nothing is lost starts none.
RECOVERIES = "journalctl -b _PID=1 --no-pager | grep -c 'Starting railhead-device@' || :"


def _boot(guest, with_railhead):
    """Seconds of CPU until all jobs of the boot are done, until multi-user.target, and the units'."""
    guest.sh(WITH if with_railhead else WITHOUT)
    before = guest.cpu_seconds()
    guest.reboot(command=ORDERLY_REBOOT)  # so that the measurements are kept
    guest.sh("systemctl is-system-running --wait >/dev/null || :", 300)
    found = {"CPU of the emulator": guest.cpu_seconds() - before,
             "multi-user.target": int(guest.sh(REACHED)) / 1e6,
             "CPU of the guest": int(guest.sh(USAGE % ".")) / 1e6}
    for group in GROUPS:
        found[f"CPU of {group}"] = int(guest.sh(USAGE % group) or 0) / 1e6
    guest.wait_until_booted()
    status = guest.run("railhead status")
    if with_railhead != (status.status == 0):
        raise SystemExit(f"railhead status, where it was {'' if with_railhead else 'not '}run:\n"
                         + status.output)
    if with_railhead:
        record = json.loads(guest.read("/run/railhead/status.json"))
        if "again_because" in record["numbers"]:
            print(f"# the gate measured again: {record['numbers']['again_because']}")
        for name, stage in record["stages"].items():
            found[f"wall of {name}"] = stage["duration_usec"] / 1e6
        found["wall of railhead-initrd.service"] = float(guest.sh(LASTED))
        found["runs of railhead-device@"] = int(guest.sh(RECOVERIES))
        for unit in UNITS:
            found[f"CPU of {unit}"] = int(guest.sh(SHOW % "CPUUsageNSec" + unit)) / 1e9
    return found


def _pair(guest):
    """None, with a line that says so, where a boot does not come up: emulated ones do that at times."""
    try:
        return _boot(guest, True), _boot(guest, False)
    except GuestError as error:
        print(f"# a pair is left out: {str(error).splitlines()[0]}")
        guest.power_cut()
        guest.power_on()
        guest.wait_for_shell()
        guest.wait_until_booted()
        return None


def _row(name, values, further=""):
    print(f"{name:<34} {statistics.median(values):>8.3f} {min(values):>8.3f} {max(values):>8.3f}"
          f"  {further}")


def _interval(differences):
    """Of the mean: a normal approximation, as there are 20 pairs and more."""
    mean, half = statistics.mean(differences), 0.0
    if len(differences) > 1:
        half = 1.96 * statistics.stdev(differences) / math.sqrt(len(differences))
    return f"mean {mean:+.3f} ± {half:.3f} (95 %)"


def main():
    pairs = int(sys.argv[1])
    prepare.claim()
    qemu = prepare.qemu()
    disk = prepare.image(prepare.packages())
    with Guest(qemu, prepare.accelerator(qemu, disk), disk, os.path.join(prepare.logs(), "bench"),
               hardware=full_hardware(2)) as guest:
        guest.first_boot()
        guest.sh(f"cat >/etc/railhead/profiles/vm-bench.yaml <<'PROFILE'\n{PROFILE}PROFILE")
        guest.sh(PREPARE, 180)
        _boot(guest, True)  # measures, and so the next one need not
        found = [pair for pair in (_pair(guest) for _ in range(pairs)) if pair]
    print(f"# VM, {guest.accel}: {len(found)} pairs of boots, with railhead and without; seconds")
    print(f"{'':<34} {'median':>8} {'least':>8} {'most':>8}")
    for name in found[0][1]:
        _row(f"{name}, without", [without[name] for _, without in found])
        _row(f"{name}, with", [with_it[name] for with_it, _ in found])
        differences = [with_it[name] - without[name] for with_it, without in found]
        _row(f"{name}, difference", differences, _interval(differences))
    for name in found[0][0]:
        if name not in found[0][1]:
            _row(name, [with_it[name] for with_it, _ in found])


if __name__ == "__main__":
    main()
