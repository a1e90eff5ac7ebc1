"""What trials cost a boot that has its arguments, and to which nothing happens: GRUB's writes are counted
by the disk of the emulator, railhead's by strace, in the initramfs too.
"""

import re
import time

import prepare
from cases.layouts import FIRST_BOOTS
from cases.trials import ENV, OTHERS, WANTED, is_converged, look, settle
from harness import case, equal, exits, expect, state
from vm import REBOOT

TRACES = "/run/traces"
# The initramfs runs the program of the real root.
TRACED = f"""mv /usr/sbin/railhead /usr/sbin/railhead.real
cat >/usr/sbin/railhead <<'S'
#!/bin/sh
mkdir -p {TRACES}
exec strace -f -qq -y -e trace=write,pwrite64,fsync,fdatasync,sync,syncfs,mount,fsmount,move_mount \\
  -o {TRACES}/$$ /usr/sbin/railhead.real "$@"
S
chmod 755 /usr/sbin/railhead
"""


def written(vm):
    """Writes to the guest's disk so far: how many, and their bytes."""
    stats = next(device["stats"] for device in vm.qmp("query-blockstats")
                 if device["device"] == "disk")
    return stats["wr_operations"], stats["wr_bytes"]


def wait_for(vm, what, reached):
    end = time.monotonic() + 300
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
    vm.wait_for_shell(300)
    vm.wait_until_booted()
    look(vm, vm.resets - resets, console)
    vm.seen["traces"] = vm.sh(f"cat {TRACES}/*")
    vm.sh("mv /usr/sbin/railhead.real /usr/sbin/railhead")


@case("converged", "a boot that has its args: GRUB writes one block of railhead.env, railhead 16 bytes")
def one_write_each(vm):
    is_converged(vm, WANTED)
    equal("GRUB's writes, and their bytes", vm.seen["grub"], [1, 4096])
    calls = re.findall(r"^\d+ +(\w+)\(\d+<[^>]*/railhead\.env>(.*)", vm.seen["traces"], re.M)
    equal("calls that write to railhead.env, or wait for it", [name for name, _ in calls],
          ["pwrite64", "fsync"])
    expect('"railhead_begun=0", 16, 3584) = 16' in calls[0][1], f"it wrote {calls[0][1]}")
    equal("mounts", re.findall(r"^\d+ +\w*mount\(.*", vm.seen["traces"], re.M), [])


def stage_early_ms(vm, begun):
    """The median of 11 runs, each after GRUB has counted so many boots."""
    times = vm.sh(f"for i in $(seq 11); do grub-editenv {ENV} set railhead_begun={begun}; sync;"
                  " from=$(date +%s%N); railhead apply --stage early >/dev/null 2>&1;"
                  " to=$(date +%s%N); echo $(((to - from) / 1000)); done", 300)
    return sorted(int(word) for word in times.split())[5] / 1000


@case("converged", "setting the count back takes stage early no time that matters")
def time_is_small(vm):
    without, counted = stage_early_ms(vm, 0), stage_early_ms(vm, 1)
    prepare.say(f"stage early: {without:.1f} ms, {counted:.1f} ms where it sets the count back")
    exits(vm, "railhead plan", 0, 120)
    expect(counted - without < 500, f"{without} ms without, {counted} ms with the write")
