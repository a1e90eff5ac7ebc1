"""Boot a disk with a unified kernel image, as tests/long/images builds one of the mkosi example.

    python3 tests/vm/boot_uki.py IMAGE DIRECTORY ARGUMENT...

The image has the profile vm-bench, the shell of the harness and the kernel arguments of that profile.
The first boot must be ready with no reboot, and the second, too. In the third the profile requires an
argument more than the unified kernel image has: railhead must block the node, name the remedy, and not
reboot. The console is DIRECTORY/console.log. VMLINUZ lies next to the image, for the look at KVM.
"""

import os
import sys

sys.dont_write_bytecode = True

import prepare  # noqa: E402
from harness import Failed, contains, equal, exits, expect, expect_fault, is_active, status_json  # noqa: E402
from vm import Guest, GuestError, full_hardware  # noqa: E402

PROFILE = "/etc/railhead/profiles/vm-bench.yaml"
MORE = "nosoftlockup"
TRIES = 3  # of a guest whose emulator fails


def boot_by(vm, begin, number):
    """Boot number so many with begin(), without any other reboot."""
    begin()
    vm.wait_until_booted()
    equal("reboots of the machine", vm.resets, number - 1)
    equal("kernels on the console", len(vm.boots_on_console()) - 1, number)
    equal("boots of the real root", len(vm.read("/var/lib/boots").split()), number)


def left_for_loaders(vm):
    """Whatever railhead could leave on this machine for a boot loader."""
    return vm.sh("ls /sys/firmware/efi/efivars | grep -i railhead || :; find / -xdev -name 'railhead.env*';"
                 " find /boot -iname '*railhead*'")


def stub_started(vm):
    expect(vm.run("grep -qa s.y.s.t.e.m.d.-.s.t.u.b /sys/firmware/efi/efivars/StubInfo-*").status == 0,
           "no systemd-stub started this kernel")


def initrd_stage_ran(vm):
    """In the initramfs: before PID 1 switched to the real root, by a unit that only the initramfs has."""
    record = status_json(vm)
    expect("initrd" in record["stages"], f"no stage initrd: {list(record['stages'])}")
    expect("lacks" not in record["stages"]["early"], "stage early did the work of stage initrd")
    expect(vm.run("systemctl cat railhead-initrd.service").status != 0,
           "the real root has railhead-initrd.service itself")
    log = vm.sh("journalctl -b --no-pager -o cat _SYSTEMD_UNIT=railhead-initrd.service"
                " + UNIT=railhead-initrd.service + _PID=1 MESSAGE='Switching root.'")
    expect("Switching root." in log and "initramfs" in log[:log.index("Switching root.")],
           f"the unit of the initramfs did not run before the switch to the real root:\n{log}")


def started_after_verdict(vm, unit):
    expect(is_active(vm, unit), f"{unit} is not active")
    times = [int(vm.sh(f"systemctl show --value -p {name} {of}")) for name, of in (
        ("ActiveEnterTimestampMonotonic", "railhead-ready.target"),
        ("ExecMainStartTimestampMonotonic", unit))]
    expect(0 < times[0] <= times[1], f"the verdict opened at {times[0]} us, {unit} started at {times[1]}")


def ready(vm, arguments):
    line = vm.read("/proc/cmdline").split()
    for argument in arguments:
        expect(argument in line, f"{argument} is not in /proc/cmdline: {' '.join(line)}")
    stub_started(vm)
    equal("1G pages of the nodes", vm.sh(
        "cat /sys/devices/system/node/node*/hugepages/hugepages-1048576kB/nr_hugepages").split(),
        ["1", "1"])
    equal("vm.swappiness", vm.read("/proc/sys/vm/swappiness"), "10")
    expect(status_json(vm)["verdict"] == "ready", vm.run("railhead status").output)
    equal("where the EFI system partition is", vm.sh("ls /boot >/run/ls && findmnt -no FSTYPE -t vfat /boot"), "vfat")
    exits(vm, "railhead status", 0)
    contains("railhead plan", exits(vm, "railhead plan", 0, 120), "converged")
    initrd_stage_ran(vm)
    started_after_verdict(vm, "containerd.service")
    equal("left for boot loaders", left_for_loaders(vm), "")


def differs(vm):
    """The image lacks an argument of its profile: no trial can bring it."""
    equal("verdict", status_json(vm)["verdict"], "blocked")
    expect_fault(vm, "RH-BOOT-NO-LOADER", f"(+{MORE})")
    for command, status in (("status", 7), ("plan", 5), ("kargs", 9), ("gate --again", 7)):
        contains(f"railhead {command}", exits(vm, f"railhead {command} 2>&1", status, 120), "a unified kernel image",
                 "build the image again", "railhead kargs --format=line")
    contains("railhead kargs --format=line", exits(vm, "railhead kargs --format=line", 0), MORE)
    contains("railhead kargs", vm.run("railhead kargs").output, "file       (none)")
    expect(not is_active(vm, "containerd.service"), "work was let in")
    equal("left for boot loaders", left_for_loaders(vm), "")


def life(vm, arguments):
    boot_by(vm, lambda: (vm.start(), vm.wait_for_shell()), 1)
    ready(vm, arguments)
    print("# first boot: ready, no reboot", flush=True)
    boot_by(vm, vm.reboot, 2)
    ready(vm, arguments)
    print("# second boot: ready, no reboot", flush=True)
    vm.sh(f"sed -i 's/skew_tick=1\\]/skew_tick=1, {MORE}]/' {PROFILE} && railhead check {PROFILE}")
    boot_by(vm, vm.reboot, 3)
    differs(vm)
    print(f"# third boot, the profile requires {MORE}: blocked, no reboot", flush=True)


def main():
    image, directory, *arguments = sys.argv[1:]
    prepare.claim()
    os.makedirs(directory, exist_ok=True)
    qemu = prepare.qemu()
    accelerator = prepare.accelerator(qemu, image)
    for left in reversed(range(TRIES)):
        hardware = full_hardware() + prepare.ovmf(qemu, directory)
        with Guest(qemu, accelerator, image, directory, hardware=hardware,
                   files=[prepare.VARIABLES]) as vm:
            try:
                return life(vm, arguments)
            except (Failed, GuestError):
                reason = vm.emulator_failed()
                if not reason or not left:
                    raise
                print(f"# again, for the emulator failed: {reason}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (prepare.PrepareError, Failed, GuestError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
