"""What trials cost a boot that has its arguments, and to which nothing happens: GRUB's writes are counted
by the disk of the emulator, railhead's by strace, in the initramfs too. And the line of such a boot,
before and after a trial that died.
"""

import re
import time

import prepare
from cases.layouts import FIRST_BOOTS
from cases.trials import (OTHERS, PANIC, STUCK, WANTED, arm, finish, is_converged, kernels, look,
                          settle)
from harness import case, contains, equal, exits, expect, state
from vm import HANG, REBOOT

TRACES = "/run/traces"
CALLS = ("open,openat,openat2,creat,read,pread64,write,pwrite64,ftruncate,fallocate,rename,renameat,"
         "renameat2,fsync,fdatasync,sync,syncfs,mount,fsmount,move_mount")
# Where railhead keeps what it knows of arguments.
KEPT = r"/railhead\.env|/railhead/kernel-args|/railhead/trial-end"
# The initramfs runs the program of the real root. The units forbid what a tracer needs.
TRACED = f"""mkdir -p /etc/systemd/system/railhead-.service.d
printf '[Service]\\nSystemCallFilter=\\n' >/etc/systemd/system/railhead-.service.d/zz-trace.conf
mv /usr/sbin/railhead /usr/sbin/railhead.real
cat >/usr/sbin/railhead <<'S'
#!/bin/sh
mkdir -p {TRACES}
exec strace --seccomp-bpf -f -qq -y -T -e trace={CALLS} \\
  -o "$(mktemp "{TRACES}/$1.$3.XXXXXX")" /usr/sbin/railhead.real "$@"
S
chmod 755 /usr/sbin/railhead
"""


def written(vm):
    """Writes to the guest's disk so far: how many, and their bytes."""
    stats = next(device["stats"] for device in vm.qmp("query-blockstats")
                 if device["device"] == "disk")
    return stats["wr_operations"], stats["wr_bytes"]


def wait_for(vm, what, reached):
    end = time.monotonic() + HANG
    while not reached():
        expect(time.monotonic() < end, f"{what} does not come:\n" + vm.console()[-2000:])
        time.sleep(0.1)


@state("converged", guest=OTHERS, after=FIRST_BOOTS)
def converged(vm):
    vm.sh(TRACED)
    settle(vm)
    resets, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    wait_for(vm, "the firmware", lambda: vm.resets > resets)
    before = written(vm)
    wait_for(vm, "the kernel", lambda: "] Command line: " in vm.console(console))
    vm.seen["grub"] = [now - was for now, was in zip(written(vm), before)]
    vm.wait_for_shell()
    vm.wait_until_booted()
    look(vm, vm.resets - resets, console)
    vm.seen["traces"] = {stage: vm.sh(f"cat {TRACES}/{name}.*") for stage, name in (
        ("initrd", "apply.initrd"), ("early", "apply.early"), ("devices", "apply.devices"), ("gate", "gate."))}
    vm.sh("mv /usr/sbin/railhead.real /usr/sbin/railhead")


def calls_on_kept(vm, stage):
    """Name, the rest of the line, and seconds."""
    return re.findall(rf"^\d+ +(\w+)\((.*(?:{KEPT})[>\"].*) <([0-9.]+)>$", vm.seen["traces"][stage], re.M)


@case("converged", "a boot that has its args: GRUB writes nothing, and railhead only reads, in its gate")
def writes_nothing(vm):
    is_converged(vm, WANTED)
    equal("GRUB's writes, and their bytes", vm.seen["grub"], [0, 0])
    for stage in ("initrd", "early", "devices"):
        equal(f"calls of {stage} on railhead.env and the record", calls_on_kept(vm, stage), [])
    calls = calls_on_kept(vm, "gate")
    expect(any(name == "read" for name, _, _ in calls), f"the gate reads nothing: {calls}")
    equal("calls of the gate that write, or wait for a write",
          [call for call in calls if re.search("write|sync|rename|O_(WRONLY|RDWR|CREAT)", " ".join(call))], [])
    for stage, trace in vm.seen["traces"].items():
        equal(f"mounts of {stage}", re.findall(r"^\d+ +\w*mount\(.*", trace, re.M), [])


@case("converged", "all calls on railhead.env and the record take a boot no time that matters")
def time_is_small(vm):
    # With what strace itself takes.
    times = [float(second) for _, _, second in calls_on_kept(vm, "gate")]
    prepare.say(f"{len(times)} calls on what is kept of arguments: {1000 * sum(times):.1f} ms")
    expect(sum(times) < 1, f"{len(times)} calls, {sum(times)} s")


# --- a trial that died ----------------------------------------------------------------------

@state("dead trial", guest=OTHERS)
def dead_trial(vm):
    vm.dead_end = STUCK
    vm.seen["line"] = vm.read("/proc/cmdline")
    # One trial is enough: what becomes of the second one is seen in trials.py.
    vm.sh("printf 'schema: 1\nreboot: false\n' >/etc/railhead/railhead.conf")
    arm(vm, WANTED + [PANIC])
    before, console = vm.resets, vm.console_size()
    vm.send(REBOOT)
    wait_for(vm, "the panic", lambda: "Rebooting in" in vm.console(console))
    vm.qmp("system_reset")
    finish(vm, 2, before, console)


@case("dead trial", "the line after a trial that died is the line before it, byte for byte")
def same_line(vm):
    equal("trials", [PANIC in line for line in kernels(vm)], [True, False])
    equal("the line after it", vm.read("/proc/cmdline"), vm.seen["line"])
    contains("railhead kargs", exits(vm, "railhead kargs", 5), "1 of 2 trials died")
